// SPDX-License-Identifier: GPL-2.0-only
/* An open file of the device: its owner and its policies. */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "choice/choice.h"
#include "phase/client.h"
#include "phase/quantum.h"
#include "uapi/kadapt.h"

/* Frees clients: a client's own worker can't destroy its work queue. */
static struct workqueue_struct *ender;

struct kadapt_client *kadapt_client_create(void)
{
	struct kadapt_client *client = kzalloc(sizeof(*client),
					       GFP_KERNEL_ACCOUNT);

	if (!client)
		return NULL;
	kref_init(&client->refs);
	INIT_LIST_HEAD(&client->tasks);
	xa_init_flags(&client->rings, XA_FLAGS_ALLOC);
	client->owner = get_task_pid(current, PIDTYPE_TGID);
	return client;
}

struct kadapt_client *kadapt_client_get(struct kadapt_client *client)
{
	kref_get(&client->refs);
	return client;
}

int kadapt_clients_init(void)
{
	ender = alloc_workqueue("kadapt", WQ_UNBOUND, 0);
	return ender ? 0 : -ENOMEM;
}

void kadapt_clients_exit(void)
{
	destroy_workqueue(ender);
}

/*
 * Each process has a work queue of its own: a slow disk or a frozen file system
 * delays the rings of that process only.
 */
int kadapt_client_employ(struct kadapt_client *client)
{
	struct workqueue_struct *worker;

	if (READ_ONCE(client->worker))
		return 0;
	worker = alloc_workqueue("kadapt-%d", WQ_UNBOUND | WQ_HIGHPRI, 0,
				 task_tgid_nr(current));
	if (!worker)
		return -ENOMEM;
	/* Another thread has installed its queue first. */
	if (cmpxchg(&client->worker, NULL, worker))
		destroy_workqueue(worker);
	return 0;
}

static void phase_free(struct kadapt_phase *phase)
{
	if (phase)
		kadapt_choice_release(phase->units[0]);
	kfree(phase);
}

static void client_end(struct work_struct *work)
{
	struct kadapt_client *client =
		container_of(work, struct kadapt_client, end);
	unsigned int phase;

	if (client->worker)
		destroy_workqueue(client->worker);
	for (phase = 0; phase < KADAPT_PHASES; phase++)
		phase_free(client->phases[phase]);
	xa_destroy(&client->rings);
	put_pid(client->owner);
	kfree(client);
}

static void client_free(struct kref *refs)
{
	struct kadapt_client *client =
		container_of(refs, struct kadapt_client, refs);

	INIT_WORK(&client->end, client_end);
	if (client->worker)
		queue_work(ender, &client->end);
	else
		client_end(&client->end);
}

void kadapt_client_put(struct kadapt_client *client)
{
	kref_put(&client->refs, client_free);
}

/* Whether the current task belongs to the process that opened the file. */
bool kadapt_client_owned(const struct kadapt_client *client)
{
	return task_tgid(current) == client->owner;
}

static int policy_check(const struct kadapt_policy *policy)
{
	if (policy->flags & ~KADAPT_POLICY__ALL)
		return -EINVAL;
	if (policy->phase >= KADAPT_PHASES)
		return -EINVAL;
	if (policy->file_delay_ns > KADAPT_DELAY_MAX_NS)
		return -ERANGE;
	return kadapt_quantum_check(policy->quantum_ns);
}

int kadapt_client_define(struct kadapt_client *client,
			 const struct kadapt_policy *policy)
{
	struct kadapt_phase *phase;
	int error = policy_check(policy);

	if (error)
		return error;
	phase = kzalloc(sizeof(*phase), GFP_KERNEL_ACCOUNT);
	if (!phase)
		return -ENOMEM;
	phase->quantum_ns = policy->quantum_ns;
	phase->file_delay_ns = policy->file_delay_ns;
	phase->memory_is_plain = policy->flags & KADAPT_POLICY_MEMORY_PLAIN;
	/*
	 * Full barrier: a task that reads the pointer sees the phase complete.
	 */
	if (cmpxchg(&client->phases[policy->phase], NULL, phase)) {
		kfree(phase);
		return -EEXIST;
	}
	return 0;
}

struct kadapt_phase *kadapt_client_phase(const struct kadapt_client *client,
					 unsigned long phase)
{
	if (phase >= KADAPT_PHASES)
		return NULL;
	return READ_ONCE(client->phases[phase]);
}

int kadapt_client_take(struct kadapt_client *client, u32 number,
		       unsigned int unit)
{
	struct kadapt_phase *phase = kadapt_client_phase(client, number);

	if (!phase)
		return -ENOENT;
	/* The phase holds a unit once. */
	return test_and_set_bit(unit, phase->units) ? -EEXIST : 0;
}
