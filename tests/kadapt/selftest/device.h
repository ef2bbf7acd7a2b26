/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cases share: the device, slices as the kernel tells them, clocks. */
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

/* Features of this kernel's driver, 0 without one. */
uint64_t device_features(void);
bool has_quantum(void);
bool has_rings(void);
bool has_memory(void);
/* The longest quantum that the administrator allows, at most `wanted`. */
uint64_t quantum_up_to(uint64_t wanted);

/* The slice as sched_getattr(2) tells it, of a thread or (0) the caller. */
uint64_t slice_of(pid_t thread);
int set_slice(uint64_t slice_ns);

int64_t now(void);
int64_t tick(void);
void spin_for(int64_t duration);
/* Spin until the thread has run this long without a switch; -1 if that takes too long. */
int spin_unswitched(int64_t duration);
void sleep_for(int64_t duration);

/* Run in a child, which ends with what the function returns; that is returned. */
int in_child(int (*function)(void *), void *argument);
void *shared_memory(size_t size);

#endif
