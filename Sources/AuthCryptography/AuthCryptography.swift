#if Cryptography
#endif
