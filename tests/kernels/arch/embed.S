/* The probes' code for the GPU, as data. */
    .section .rodata
    .balign 16
    .globl quarry_arch_probes
    .hidden quarry_arch_probes
quarry_arch_probes:
    .incbin "probes.fatbin"
    .byte 0
    .balign 16
    .globl quarry_arch_probes_sm90
    .hidden quarry_arch_probes_sm90
quarry_arch_probes_sm90:
    .incbin "probes_sm90.fatbin"
    .byte 0
    .section .note.GNU-stack,"",@progbits
