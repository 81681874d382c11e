#if ServiceLifecycle
#endif
