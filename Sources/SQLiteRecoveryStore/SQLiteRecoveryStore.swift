#if SQLite
#endif
