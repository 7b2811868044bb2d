#include "support/proxy_fixture.hpp"
