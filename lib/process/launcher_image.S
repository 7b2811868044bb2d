/* The helper program, built by lib/launcher, as it goes into a memfd. */
    .section .rodata
    .global sandpipe_launcher_image
    .global sandpipe_launcher_image_end
    .balign 16
sandpipe_launcher_image:
    .incbin SANDPIPE_LAUNCHER_IMAGE
sandpipe_launcher_image_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
