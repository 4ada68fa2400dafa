// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups of tasks without a file system: the tree's own controller (cpu_cgrp_subsys) is asked for
 * its groups and its files' handlers; here is only what kernel/cgroup/ would remember of them. The
 * rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: numbers of groups are given in order from 0, the root; files are the controller's
 * own. May change: what of kernel/cgroup a new controller asks for.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `groups` (`group_create`, `group_set`, `join_group` of task.c; shares are printed, nobody
 * compares them), `storm` (`move_call`, `group_remove`, `file_in`, `cgroup_parse_float`,
 * iterators). What `group_remove` refuses is not compared. The rest by every boot and by `storm`.
 *
 * Callers: control.c (`group_call`), call.c (`move_call`), task.c (`css_set_of`), boot.c
 * (`groups_init`); the rest the tree's controller. The engine's orders:
 * crates/engine/src/kernel/tree/tasks.rs.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#define MAX_GROUPS 65536

struct wp_group {
	struct cgroup cgroup;
	struct css_set cset;
	struct cgroup_subsys_state *css;
	unsigned int number, parent, tasks;
};

static struct wp_group **groups;
static unsigned int nr_groups;
static struct cgroup_subsys_state *file_css;
__typeof__(cpu_cgrp_subsys_on_dfl_key) cpu_cgrp_subsys_on_dfl_key = STATIC_KEY_TRUE_INIT;

/* NULL: no such number. */
static struct wp_group *group(unsigned int number)
{
	return number < nr_groups ? groups[number] : NULL;
}

/* The next number; linked into its parent. */
static struct wp_group *new_group(struct cgroup_subsys_state *css, unsigned int parent)
{
	struct wp_group *g = wp_alloc(sizeof(*g), 64);

	css->cgroup = &g->cgroup;
	css->ss = &cpu_cgrp_subsys;
	css->flags |= CSS_NO_REF | CSS_ONLINE;
	INIT_LIST_HEAD(&css->children);
	INIT_LIST_HEAD(&css->sibling);
	g->css = css;
	g->cgroup.subsys[cpu_cgrp_id] = css;
	g->cset.subsys[cpu_cgrp_id] = css;
	g->cset.dfl_cgrp = &g->cgroup;
	g->parent = parent;
	g->number = nr_groups;
	groups[nr_groups++] = g;
	return g;
}

/* The root's group, before any task is made. */
static void groups_init(void)
{
	groups = wp_alloc(MAX_GROUPS * sizeof(*groups), 64);
	new_group(&root_task_group.css, WPK_NONE);
	rcu_assign_pointer(init_task.cgroups, &groups[0]->cset);
}

/* What a task's pointer to its groups is. */
static struct css_set *css_set_of(unsigned int number)
{
	return group(number) ? &group(number)->cset : NULL;
}

/* The number of a task's group. */
static unsigned int group_of(struct task_struct *p)
{
	return container_of(rcu_dereference_raw(p->cgroups), struct wp_group, cset)->number;
}

/* What the controller asks of kernel/cgroup/cgroup.c. */
struct cgroup_subsys_state *of_css(struct kernfs_open_file *of)
{
	return file_css;
}

/* As kernel/cgroup has it: a group before those in it. */
struct cgroup_subsys_state *css_next_descendant_pre(struct cgroup_subsys_state *pos,
						    struct cgroup_subsys_state *root)
{
	if (!pos)
		return root;
	if (!list_empty(&pos->children))
		return list_first_entry(&pos->children, struct cgroup_subsys_state, sibling);
	for (; pos != root; pos = pos->parent)
		if (!list_is_last(&pos->sibling, &pos->parent->children))
			return list_next_entry(pos, sibling);
	return NULL;
}

/* The last group of a walk. */
struct cgroup_subsys_state *css_rightmost_descendant(struct cgroup_subsys_state *pos)
{
	while (!list_empty(&pos->children))
		pos = list_last_entry(&pos->children, struct cgroup_subsys_state, sibling);
	return pos;
}

/* The tasks of a group, by their numbers: the iterator's flags hold where it is. */
static struct task_struct **task_table;
static unsigned int task_table_size;

/* The walk begins at task number 0. */
void css_task_iter_start(struct cgroup_subsys_state *css, unsigned int flags,
		struct css_task_iter *it)
{
	memset(it, 0, sizeof(*it));
	it->cset_pos = (void *)css;
}

/* Tasks in the order of their numbers. */
struct task_struct *css_task_iter_next(struct css_task_iter *it)
{
	while (it->flags < task_table_size) {
		struct task_struct *p = task_table[it->flags++];

		if (p && task_css_check(p, cpu_cgrp_id, true) == (void *)it->cset_pos)
			return p;
	}
	return NULL;
}

/* The walk holds nothing that would have to be given back. */
void css_task_iter_end(struct css_task_iter *it)
{
}

/* A move is of one task. */
struct cgroup_taskset {
	struct task_struct *task;
	struct cgroup_subsys_state *css;
};

/* The task that moves. */
struct task_struct *cgroup_taskset_first(struct cgroup_taskset *set,
		struct cgroup_subsys_state **css)
{
	*css = set->css;
	return set->task;
}

/* There is no second one. */
struct task_struct *cgroup_taskset_next(struct cgroup_taskset *set,
		struct cgroup_subsys_state **css)
{
	return NULL;
}

/* A task to another group, by the controller's own checks. */
static wpk_s64 move_call(const struct wpk_call *call)
{
	struct task_struct *p = call->task == WPK_SELF ? current : task_by_number(call->task);
	struct wp_group *g = group(call->group);
	struct cgroup_taskset set;
	int error;

	if (!p || !g)
		return -ENOENT;
	set = (struct cgroup_taskset){ .task = p, .css = g->css };
	error = cpu_cgrp_subsys.can_attach ? cpu_cgrp_subsys.can_attach(&set) : 0;
	if (error)
		return error;
	rcu_assign_pointer(p->cgroups, &g->cset);
	cpu_cgrp_subsys.attach(&set);
	return 0;
}

/* Its number, or a negative errno. */
static wpk_s64 group_create(unsigned int parent)
{
	struct wp_group *up = group(parent), *g;
	struct cgroup_subsys_state *css;
	int error;

	if (!up)
		return -ENOENT;
	if (nr_groups == MAX_GROUPS)
		return -ENOSPC;
	css = cpu_cgrp_subsys.css_alloc(up->css);
	if (IS_ERR(css))
		return PTR_ERR(css);
	g = new_group(css, parent);
	css->parent = up->css;
	list_add_tail(&css->sibling, &up->css->children);
	error = cpu_cgrp_subsys.css_online(css);
	return error ? error : g->number;
}

/* -EBUSY: something is in it. */
static wpk_s64 group_remove(unsigned int number)
{
	struct wp_group *g = group(number);
	unsigned int i;

	if (!g || !number)
		return -ENOENT;
	if (!list_empty(&g->css->children))
		return -EBUSY;
	for (i = 0; i < task_table_size; i++)
		if (task_table[i] && group_of(task_table[i]) == number)
			return -EBUSY;
	list_del_init(&g->css->sibling);
	groups[number] = NULL;
	if (cpu_cgrp_subsys.css_offline)
		cpu_cgrp_subsys.css_offline(g->css);
	if (cpu_cgrp_subsys.css_released)
		cpu_cgrp_subsys.css_released(g->css);
	rcu_barrier();
	if (cpu_cgrp_subsys.css_free)
		cpu_cgrp_subsys.css_free(g->css);
	return 0;
}

/* NULL: the controller has no such file. */
static struct cftype *file_in(struct cftype *files, const char *name)
{
	for (; files && files->name[0]; files++)
		if (!strcmp(files->name, name))
			return files;
	return NULL;
}

/*
 * As the file system does: text to the handler that takes text, a number to the one that takes a
 * number.
 */
static wpk_s64 group_set(unsigned int number, const char *name, const char *value)
{
	struct kernfs_node node = {};
	struct kernfs_open_file of = { .kn = &node };
	struct wp_group *g = group(number);
	struct cftype *file;
	char text[256];
	ssize_t n;

	if (!g)
		return -ENOENT;
	if (!strncmp(name, "cpu.", 4))
		name += 4;
	file = file_in(cpu_cgrp_subsys.dfl_cftypes, name);
	if (!file)
		file = file_in(cpu_cgrp_subsys.legacy_cftypes, name);
	if (!file)
		return -ENOENT;
	file_css = g->css;
	node.priv = file;
	strscpy(text, value, sizeof(text));
	if (file->write) {
		n = file->write(&of, text, strlen(text), 0);
		return n < 0 ? n : 0;
	}
	if (file->write_u64) {
		u64 v;

		return kstrtoull(strim(text), 0, &v) ?: file->write_u64(g->css, file, v);
	}
	if (file->write_s64) {
		s64 v;

		return kstrtoll(strim(text), 0, &v) ?: file->write_s64(g->css, file, v);
	}
	return -EPERM;
}

/* Orders of the owner about groups. */
static wpk_s64 group_call(const struct wpk_call *call)
{
	switch (call->op) {
	case WPK_GROUP:
		return group_create(call->group);
	case WPK_GROUP_REMOVE:
		return group_remove(call->group);
	default:
		return call->name && call->value ? group_set(call->group, call->name,
			call->value) : -EINVAL;
	}
}

/* "12.34" with two digits after the point is 1234. */
int cgroup_parse_float(const char *text, unsigned int digits, s64 *value)
{
	bool negative = *text == '-', point = false;
	unsigned int after = 0;
	s64 v = 0;

	text += negative;
	for (; *text && *text != '\n'; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (after == digits && point)
			continue;
		v = v * 10 + (*text - '0');
		after += point;
	}
	for (; after < digits; after++)
		v *= 10;
	*value = negative ? -v : v;
	return 0;
}
