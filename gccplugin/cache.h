/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For a compiler cache in front of the wrapper, which asks for the preprocessed source. ccache
 * finds the word __TIME__ here, so it asks each time, before it takes an object from the cache.
 * What it is told differs if the mode, the plan, the options or the compiler do. See wrapper.sh.
 */
#ifdef KADENCE_CACHE_KEY
extern int KADENCE_CACHE_KEY;
#endif
