// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are slow on purpose, each for a reason of its own. What a program writes to
 * /proc/planted says which is called; the others are what a kernel with them would do anyway.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define ENTRIES 2000
#define BUFFER (1 << 20)
#define TURNS 100000
#define HOLD_MS 3

struct entry {
	struct list_head entries;
	unsigned long key;
};

static LIST_HEAD(entries);
static DEFINE_MUTEX(planted_mutex);
static DECLARE_RWSEM(planted_semaphore);
static DECLARE_COMPLETION(done);
static struct task_struct *holder;
static char *buffer;

noinline void planted_sleep(void);
noinline void planted_spin(void);
noinline struct entry *planted_search(unsigned long key);
noinline void planted_clear(void);
noinline void planted_mutual_exclusion(void);
noinline void planted_readers(void);
noinline void planted_completion(void);
noinline unsigned long planted_checksum(void);

void planted_sleep(void)
{
	msleep(2);
}

void planted_spin(void)
{
	unsigned int turns;

	for (turns = 0; turns < TURNS; turns++)
		barrier();
}

struct entry *planted_search(unsigned long key)
{
	struct entry *each;

	list_for_each_entry(each, &entries, entries) if (each->key == key) return each;
	return NULL;
}

void planted_clear(void)
{
	size_t i;

	/* Not by memset(), where the walk would end. */
	for (i = 0; i < BUFFER; i += 8)
		WRITE_ONCE(*(u64 *)&buffer[i], 0);
}

void planted_mutual_exclusion(void)
{
	mutex_lock(&planted_mutex);
	mutex_unlock(&planted_mutex);
}

void planted_readers(void)
{
	down_read(&planted_semaphore);
	up_read(&planted_semaphore);
}

static void finish(struct work_struct *work)
{
	msleep(2);
	complete(&done);
}

static DECLARE_WORK(work, finish);

void planted_completion(void)
{
	schedule_work(&work);
	wait_for_completion(&done);
}

unsigned long planted_checksum(void)
{
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < BUFFER; i += 16)
		sum = sum * 31 + buffer[i];
	return sum;
}

/* Another task holds both locks most of the time. */
static int hold(void *data)
{
	while (!kthread_should_stop()) {
		mutex_lock(&planted_mutex);
		down_write(&planted_semaphore);
		msleep(HOLD_MS);
		up_write(&planted_semaphore);
		mutex_unlock(&planted_mutex);
		usleep_range(100, 200);
	}
	return 0;
}

static ssize_t planted_write(struct file *file, const char __user *user, size_t size, loff_t *at)
{
	static unsigned long sum;
	char word[16] = "";

	if (size >= sizeof(word) || copy_from_user(word, user, size))
		return -EINVAL;
	if (!strcmp(word, "sleep"))
		planted_sleep();
	else if (!strcmp(word, "spin"))
		planted_spin();
	else if (!strcmp(word, "search"))
		planted_search(ENTRIES);
	else if (!strcmp(word, "clear"))
		planted_clear();
	else if (!strcmp(word, "mutex"))
		planted_mutual_exclusion();
	else if (!strcmp(word, "readers"))
		planted_readers();
	else if (!strcmp(word, "completion"))
		planted_completion();
	else
		sum += planted_checksum();
	return size;
}

static const struct proc_ops planted_ops = {.proc_write = planted_write};

static int __init planted_init(void)
{
	struct entry *array = vmalloc(array_size(ENTRIES, sizeof(*array)));
	unsigned int i;

	buffer = vzalloc(BUFFER);
	if (!array || !buffer)
		return -ENOMEM;
	for (i = 0; i < ENTRIES; i++) {
		array[i].key = i;
		list_add(&array[i].entries, &entries);
	}
	holder = kthread_run(hold, NULL, "planted");
	if (IS_ERR(holder))
		return PTR_ERR(holder);
	return proc_create("planted", 0200, NULL, &planted_ops) ? 0 : -ENOMEM;
}

module_init(planted_init);
MODULE_DESCRIPTION("Functions that are slow on purpose");
MODULE_LICENSE("GPL");
