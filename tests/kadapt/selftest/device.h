/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the cases: the device, slices as the kernel reports them, clocks. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kadapt.h"

#define DEVICE "/dev/kadapt"
#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL

int open_device(void);
int define(int device, uint32_t phase, uint64_t quantum_ns);
int enter(int device, unsigned long phase);
int leave(int device);

/* Returns the features of this kernel's driver; 0 if it has no driver. */
uint64_t device_features(void);
bool has_quantum(void);
bool has_rings(void);
bool has_memory(void);
/* Returns `wanted`, or the longest quantum that the administrator allows if that is less. */
uint64_t quantum_up_to(uint64_t wanted);

/* Returns a thread's slice, as sched_getattr(2) reports it. 0: the calling thread's. */
uint64_t slice_of(pid_t thread);
int set_slice(uint64_t slice_ns);

int64_t now(void);
int64_t tick(void);
void spin_for(int64_t duration);
/* Spins until the thread has run this long without a switch. Returns 0; -1 after 20 s. */
int spin_unswitched(int64_t duration);
void sleep_for(int64_t duration);

/* Runs the function in a child and returns its result, 0 to 255; -1 if the child was killed. */
int in_child(int (*function)(void *), void *argument);
void *shared_memory(size_t size);

#endif
