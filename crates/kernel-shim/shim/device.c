// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of devices and kobjects as the frequency and energy code asks for: CPUs, and named sets
 * of attributes. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: what is registered here is what parameters can name. May change: what of the
 * driver core a new tree asks for.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario boots with it (`devices_init`, `wp_kobject_init_and_add`), `storm` (governors change:
 * `kobject_put`, `kobjects_store`); `waits_for_devices_move_frequencies` (`kobjects_store`,
 * `attribute_of`: rate_limit_us), `what_it_does_not_take_is_refused` (no such attribute).
 * `kobjects_show` has no test of its own. The rest by every boot.
 *
 * Callers: boot.c (`devices_init`), parameters.c and cpufreq.c (`kobjects_store`); the rest the
 * tree's drivers.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

static struct device *cpu_devices;
static struct device bus_root;
#ifdef WPK_HAS_BUS_DEV_ROOT
struct bus_type cpu_subsys = { .name = "cpu", .dev_name = "cpu", .dev_root = &bus_root };
#else
__typeof__(cpu_subsys) cpu_subsys = { .name = "cpu", .dev_name = "cpu" };
/* The tree's later name for `dev_root`. */
struct device *bus_get_dev_root(const struct bus_type *bus)
{
	return &bus_root;
}
#endif

/* One device per CPU, before any subsystem asks. */
static void devices_init(void)
{
	unsigned int cpu;

	cpu_devices = wp_alloc(nr_cpus * sizeof(*cpu_devices), 64);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		char *name = wp_alloc(16, 8);

		snprintf(name, 16, "cpu%u", cpu);
		cpu_devices[cpu].init_name = name;
		cpu_devices[cpu].bus = (void *)&cpu_subsys;
		cpu_devices[cpu].id = cpu;
		mutex_init(&cpu_devices[cpu].mutex);
		spin_lock_init(&cpu_devices[cpu].devres_lock);
		INIT_LIST_HEAD(&cpu_devices[cpu].devres_head);
	}
}

/* NULL: there is no such CPU. */
struct device *get_cpu_device(unsigned int cpu)
{
	return cpu < nr_cpus ? &cpu_devices[cpu] : NULL;
}

/* Calls the interface for each CPU at once. */
int subsys_interface_register(struct subsys_interface *sif)
{
	unsigned int cpu;

	for_each_present_cpu(cpu)
		sif->add_dev(&cpu_devices[cpu], sif);
	return 0;
}

/* Nothing is taken off: drivers stay until the run is over. */
void subsys_interface_unregister(struct subsys_interface *sif)
{
}

/* All kobjects with attributes, by name: parameters are written through them. */
struct wp_kobject {
	struct wp_kobject *next;
	struct kobject *kobj;
};
static struct wp_kobject *kobjects;

/* The type of the second argument became const. */
int wp_kobject_init_and_add(struct kobject *kobj, const struct kobj_type *type,
		struct kobject *parent,
			    const char *fmt, ...) __asm__("kobject_init_and_add");
/* Keeps the attributes by name, for parameters. */
int wp_kobject_init_and_add(struct kobject *kobj, const struct kobj_type *type,
		struct kobject *parent,
			    const char *fmt, ...)
{
	struct wp_kobject *k = wp_alloc(sizeof(*k), 8);
	char *name = wp_alloc(64, 8);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, 64, fmt, ap);
	va_end(ap);
	kobj->name = name;
	kobj->ktype = (void *)type;
	kobj->parent = parent;
	kref_init(&kobj->kref);
	INIT_LIST_HEAD(&kobj->entry);
	k->kobj = kobj;
	k->next = kobjects;
	kobjects = k;
	return 0;
}

/* The object has one holder more. */
struct kobject *kobject_get(struct kobject *kobj)
{
	if (kobj)
		kref_get(&kobj->kref);
	return kobj;
}

/* The last holder gone: it can be named no more. */
void kobject_put(struct kobject *kobj)
{
	struct wp_kobject **link;

	if (!kobj || !refcount_dec_and_test(&kobj->kref.refcount))
		return;
	for (link = &kobjects; *link; link = &(*link)->next)
		if ((*link)->kobj == kobj) {
			struct wp_kobject *k = *link;

			*link = k->next;
			wp_free(k);
			break;
		}
	if (kobj->ktype && kobj->ktype->release)
		kobj->ktype->release(kobj);
}

/* A folder: nothing but its name. */
struct kobject *kobject_create_and_add(const char *name, struct kobject *parent)
{
	struct kobject *kobj = wp_alloc(sizeof(*kobj), 8);

	kobj->name = name;
	kref_init(&kobj->kref);
	return kobj;
}

/* By name; NULL: it has none. */
static struct attribute *attribute_of(const struct kobject *kobj, const char *name)
{
	struct attribute **a = NULL;

#ifdef WPK_HAS_DEFAULT_ATTRS
	a = kobj->ktype->default_attrs;
#endif
	if (!a && kobj->ktype->default_groups && kobj->ktype->default_groups[0])
		a = (void *)kobj->ktype->default_groups[0]->attrs;
	for (; a && *a; a++)
		if (!strcmp((*a)->name, name))
			return *a;
	return NULL;
}

/* Writes an attribute of all kobjects that have it. */
static int kobjects_store(const char *name, const char *value)
{
	int error = -ENOENT;
	struct wp_kobject *k, *next;

	for (k = kobjects; k; k = next) {
		struct attribute *a = k->kobj->ktype ? attribute_of(k->kobj, name) : NULL;
		ssize_t n;

		next = k->next;
		if (!a || !k->kobj->ktype->sysfs_ops->store)
			continue;
		n = k->kobj->ktype->sysfs_ops->store(k->kobj, a, value, strlen(value));
		if (n < 0)
			return n;
		error = 0;
	}
	return error;
}

/* -ENOENT: no such attribute. */
static int kobjects_show(const char *name, char *page)
{
	struct wp_kobject *k;

	for (k = kobjects; k; k = k->next) {
		struct attribute *a = k->kobj->ktype ? attribute_of(k->kobj, name) : NULL;

		if (a && k->kobj->ktype->sysfs_ops->show)
			return k->kobj->ktype->sysfs_ops->show(k->kobj, a, page);
	}
	return -ENOENT;
}
