//! Saves the argument registers while our code runs before the function they are meant for.

/// Saves the argument registers: integers at the stack pointer, vector registers 64 bytes above it. The stack pointer must
/// be a multiple of 16.
macro_rules! keep_arguments {
    () => {
        concat!(
            "mov [rsp], rdi\n",
            "mov [rsp + 8], rsi\n",
            "mov [rsp + 16], rdx\n",
            "mov [rsp + 24], rcx\n",
            "mov [rsp + 32], r8\n",
            "mov [rsp + 40], r9\n",
            "movaps [rsp + 64], xmm0\n",
            "movaps [rsp + 80], xmm1\n",
            "movaps [rsp + 96], xmm2\n",
            "movaps [rsp + 112], xmm3\n",
            "movaps [rsp + 128], xmm4\n",
            "movaps [rsp + 144], xmm5\n",
            "movaps [rsp + 160], xmm6\n",
            "movaps [rsp + 176], xmm7\n",
        )
    };
}

/// Restores what [`keep_arguments`] has saved.
macro_rules! restore_arguments {
    () => {
        concat!(
            "mov rdi, [rsp]\n",
            "mov rsi, [rsp + 8]\n",
            "mov rdx, [rsp + 16]\n",
            "mov rcx, [rsp + 24]\n",
            "mov r8, [rsp + 32]\n",
            "mov r9, [rsp + 40]\n",
            "movaps xmm0, [rsp + 64]\n",
            "movaps xmm1, [rsp + 80]\n",
            "movaps xmm2, [rsp + 96]\n",
            "movaps xmm3, [rsp + 112]\n",
            "movaps xmm4, [rsp + 128]\n",
            "movaps xmm5, [rsp + 144]\n",
            "movaps xmm6, [rsp + 160]\n",
            "movaps xmm7, [rsp + 176]\n",
        )
    };
}
pub(super) use {keep_arguments, restore_arguments};
