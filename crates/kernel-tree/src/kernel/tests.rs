//! The interface against an object that is compiled here, of a few lines of C.
//! Page: docs/guide/kernel.md; the header: crates/kernel-shim.
//!
//! What must stay: layout and calls are those of the C header, which is compiled here: change both
//! together. Free: what else the compiled C does.
//! Tests by part (in crates/kernel-tree/src): kernel/mod.rs: `a_kernel_is_booted_entered_and_left`
//! (`is_dead`), `addresses_have_names` (`fault_entries`); kernel/entries.rs:
//! `calls_are_what_the_header_says` (`call`, `spawn`, `control`),
//! `what_cannot_be_booted_is_refused` (`open`); kernel/claim.rs (`take`) and kernel/host.rs
//! (`alloc`): `each_kernel_has_its_own_state`; crates/kernel-abi:
//! `structs_are_laid_out_as_in_the_header`.
//! Helpers, and who fails with them: `fake`, `machine`, `boot` (most tests,
//! `what_cannot_be_booted_is_refused` among them); `compiled` (all tests,
//! `what_cannot_be_booted_is_refused` among them); `refused` (`what_cannot_be_booted_is_refused`).
//! `log`, `warned`, `fault`, `frequency`, `placed` and `done` are the host's ears, called by the
//! kernel.

use super::*;
use std::fmt::Write as _;
use std::process::Command;

/// A kernel that does nothing but what the tests look at.
const FAKE: &str = r#"
#include "wakeplace.h"
static const struct wpk_host *kept;
#define host (*kept)
static struct wpk_cpu cpus[8];
static wpk_u32 changed[8];
static struct wpk_view view = { .changed = changed, .cpus = cpus };
static wpk_u64 last_mask;
#define NUMBER(name, value) wpk_u32 name(void) { return value; }
NUMBER(wpk_hz, 250)
NUMBER(wpk_max_cpus, 8)
wpk_u32 wpk_abi(void) { return ABI; }
wpk_u32 wpk_lines(const struct wpk_line_use **uses) { *uses = 0; return 0; }
const char *wpk_release(void) { return "7.3.4-fake"; }
struct wpk_view *wpk_view(void) { return &view; }
wpk_s32 wpk_boot(const struct wpk_host *h, const struct wpk_machine *m)
{
	char *stack;
	if (h->abi != WPK_ABI || m->abi != WPK_ABI || m->cpus[1].capacity != 512)
		return -22;
	if (m->domains[0].opps[1].khz != 2000 || m->idle[0].states[0].name[0] != 'W')
		return -22;
	kept = h;
	view.nr_cpus = m->nr_cpus;
	host.log(host.data, 6, "booted\n");
	stack = host.stack(host.data, 8192);
	stack[0] = stack[8191] = 1;
	host.stack_free(host.data, stack, 8192);
	host.free(host.data, host.alloc(host.data, 64, 64));
	return host.alloc(host.data, 4096, 4096) ? 0 : -12;
}
wpk_s32 wpk_interrupt(wpk_u32 cpu, wpk_u32 what)
{
	static const struct wpk_choice choices[2] = { { .cpu = 0, .util = 7 }, { .cpu = 1 } };
	struct wpk_decision d = { .task = 5, .answer = 1, .nr_choices = 2, .choices = choices };
	if (view.dead)
		return WPK_DEAD;
	cpus[cpu].interrupts++;
	cpus[cpu].next_event_ns = view.now_ns + what;
	if (!cpus[cpu].changed) {
		cpus[cpu].changed = 1;
		changed[view.nr_changed++] = cpu;
	}
	host.frequency(host.data, 0, 2000);
	host.placed(host.data, &d);
	view.decisions++;
	return 0;
}
wpk_s32 wpk_device(wpk_u32 cpu, const wpk_u32 *tasks, wpk_u32 nr) { return tasks[nr - 1]; }
wpk_s32 wpk_continue(wpk_u32 cpu)
{
	host.warned(host.data, "WARN here");
	host.fault(host.data, WPK_FAULT_MISSING, "some_function");
	view.dead = 1;
	return WPK_DEAD;
}
wpk_s64 wpk_call(wpk_u32 cpu, const struct wpk_call *call)
{
	if (call->op == WPK_AFFINITY)
		last_mask = call->mask[0];
	if (call->op == WPK_SETATTR)
		return call->task == WPK_SELF ? call->attr->nice + 20 : -1;
	return call->op == WPK_WAKE ? call->task : last_mask;
}
wpk_s64 wpk_spawn(wpk_u32 cpu, const struct wpk_call *fork) { return fork->name[0]; }
wpk_s64 wpk_control(const struct wpk_call *call)
{
	if (call->op == WPK_SET)
		return -2;
	host.done(host.data, call->ticket, 3);
	return WPK_PENDING;
}
wpk_s32 wpk_cpu_state(wpk_u32 cpu, struct wpk_cpu_state *s)
{
	s->khz = 9;
	return cpu < 8 ? 0 : -22;
}
wpk_s32 wpk_task_cpu(wpk_u32 task) { return task < 4 ? (int)task : -3; }
wpk_u32 wpk_is_awake(wpk_u32 task) { return task == 2; }
wpk_s32 wpk_task_state(wpk_u32 task, struct wpk_task_state *s) { s->slice_ns = 3; return 0; }
const char *wpk_kthread_name(wpk_u32 running) { return running & 1 ? "ksoftirqd/1" : 0; }
wpk_s32 wpk_get(const char *name, char *text, wpk_u32 size)
{
	text[0] = name[0];
	text[1] = '\n';
	return 2;
}
void wpk_die(wpk_u32 kind, const char *text) { for (;;); }
wpk_u32 wpk_backtrace(wpk_u64 frame, wpk_u64 *a, wpk_u32 nr)
{
	a[0] = (wpk_u64)wpk_boot + 4;
	return 1;
}
wpk_u32 wpk_in_guard(wpk_u64 address) { return address == 1; }
"#;

/// Where the header is.
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel-shim/shim");

fn compiled(folder: &Path, text: &str, args: &[&str]) -> PathBuf {
    let (source, to) = (folder.join("fake.c"), folder.join("kernel.so"));
    std::fs::write(&source, text).expect("written");
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-w", "-I", HEADERS]).args(args);
    let status = command.arg("-o").arg(&to).arg(&source).status();
    assert!(status.expect("a C compiler").success());
    to
}

fn fake(folder: &Path, abi: u32) -> PathBuf {
    compiled(folder, FAKE, &["-shared", "-fPIC", &format!("-DABI={abi}")])
}

#[derive(Debug, Default)]
struct Heard(Vec<String>);

impl Host for Heard {
    fn log(&mut self, level: u32, text: &str) {
        self.0.push(format!("log {level} {text}"));
    }
    fn warned(&mut self, text: &str) {
        self.0.push(format!("warned {text}"));
    }
    fn fault(&mut self, kind: Fault, text: &str) {
        self.0.push(format!("fault {kind:?} {text}"));
    }
    fn frequency(&mut self, domain: u32, khz: u32) {
        self.0.push(format!("frequency {domain} {khz}"));
    }
    fn placed(&mut self, decision: &Decision<'_>) {
        let Decision {
            facts,
            choices,
            energies,
            ..
        } = decision;
        let (task, answer, util) = (facts.task, facts.answer, choices[0].util);
        self.0.push(format!(
            "placed {task} {answer} {} {util} {}",
            choices.len(),
            energies.len()
        ));
    }
    fn done(&mut self, ticket: u64, result: i64) {
        self.0.push(format!("done {ticket} {result}"));
    }
}

fn machine() -> Machine {
    let cpu = |capacity| MachineCpu {
        capacity,
        core: 0,
        cluster: abi::NONE,
        llc: 0,
        package: 0,
        node: 0,
        domain: 0,
        idle: 0,
    };
    let opp = |khz| Opp { khz, uw: khz };
    Machine {
        cpus: vec![cpu(1024), cpu(512)],
        domains: vec![Domain {
            opps: vec![opp(1000), opp(2000)],
            ..Domain::default()
        }],
        idle: vec![vec![IdleState {
            name: "WFI, a long name".to_owned(),
            ..IdleState::default()
        }]],
        ..Machine::default()
    }
}

fn boot(path: &Path) -> Kernel<Heard> {
    match Kernel::boot(path, &machine(), Heard::default()) {
        Ok(kernel) => kernel,
        Err((error, _)) => panic!("{error}"),
    }
}

fn refused(path: &Path, machine: &Machine) -> String {
    match Kernel::boot(path, machine, Deaf) {
        Ok(_) => panic!("booted"),
        Err((error, Deaf)) => error.to_string(),
    }
}

#[test]
fn a_kernel_is_booted_entered_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut kernel = boot(&fake(folder.path(), abi::ABI));
    assert_eq!(
        (kernel.release().as_str(), kernel.hz()),
        ("7.3.4-fake", 250)
    );
    kernel.set_now(100);
    assert_eq!(kernel.interrupt(1, abi::TIMER), Ok(0));
    assert_eq!(kernel.interrupt(1, abi::TIMER), Ok(0));
    assert_eq!(
        (kernel.cpus()[1].interrupts, kernel.cpus()[1].next_event_ns),
        (2, 104)
    );
    let mut changed = Vec::new();
    kernel.take_changed(&mut changed);
    kernel.take_changed(&mut changed);
    assert_eq!((changed, kernel.cpus()[1].changed), (vec![1], 0));
    assert_eq!(kernel.events(), (2, 0, 0));
    assert_eq!(kernel.device(0, &[4, 6]), Ok(6));
    assert_eq!(kernel.cpu_state(0).map(|state| state.khz), Some(9));
    assert_eq!(kernel.cpu_state(9), None);
    assert_eq!((kernel.task_cpu(3), kernel.task_cpu(4)), (Some(3), None));
    assert_eq!((kernel.is_awake(1), kernel.is_awake(2)), (false, true));
    assert_eq!(kernel.task_state(1).map(|state| state.slice_ns), Some(3));
    assert_eq!(kernel.kthread_name(1).as_deref(), Some("ksoftirqd/1"));
    assert_eq!(kernel.kthread_name(2), None);
    assert_eq!(kernel.get(c"features").as_deref(), Ok("f\n"));
    assert_eq!(kernel.go_on(0), Err(Refused::Dead));
    assert!(kernel.is_dead());
    assert_eq!(kernel.interrupt(0, abi::TIMER), Err(Refused::Dead));
    let placed = "placed 5 1 2 7 0";
    let expected = [
        "log 6 booted",
        "frequency 0 2000",
        placed,
        "frequency 0 2000",
        placed,
        "warned WARN here",
        "fault Missing some_function",
    ];
    assert_eq!(kernel.into_host().0, expected);
}

#[test]
fn calls_are_what_the_header_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut kernel = boot(&fake(folder.path(), abi::ABI));
    let wake = Call::Wake {
        task: 17,
        sync: true,
    };
    assert_eq!(kernel.call(0, &wake), Ok(17));
    let affinity = |mask| Call::Affinity { task: None, mask };
    assert_eq!(kernel.call(0, &affinity(&[3])), Ok(3));
    // A mask that is too short is not read.
    assert_eq!(kernel.call(0, &affinity(&[])), Err(Refused::Error(22)));
    let attr = Attr {
        nice: -7,
        ..Attr::default()
    };
    assert_eq!(
        kernel.call(
            0,
            &Call::SetAttr {
                task: None,
                attr: &attr
            }
        ),
        Ok(13)
    );
    let fork = Fork {
        task: 1,
        group: 0,
        name: c"a",
        attr: None,
        mask: None,
    };
    assert_eq!(kernel.spawn(0, &fork), Ok(i64::from(b'a')));
    let set = Call::Set {
        name: c"x",
        value: c"1",
    };
    assert_eq!(kernel.control(&set, 0), Err(Refused::Error(2)));
    let down = Call::Hotplug { cpu: 1, up: false };
    assert_eq!(kernel.control(&down, 8), Err(Refused::Pending));
    assert_eq!(kernel.host().0.last().map(String::as_str), Some("done 8 3"));
}

/// Goal: kernels of one object have nothing in common, side by side and one after the other.
#[test]
fn each_kernel_has_its_own_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fake(folder.path(), abi::ABI);
    let counts = |kernel: &Kernel<Heard>| (kernel.events().0, kernel.cpus()[0].interrupts);
    let mut first = boot(&path);
    let (mut second, third) = (boot(&path), boot(&path));
    let _ = first.interrupt(0, 1);
    let _ = (second.interrupt(0, 1), second.interrupt(0, 1));
    assert_eq!(
        (counts(&first), counts(&second), counts(&third)),
        ((1, 1), (2, 2), (0, 0))
    );
    drop(first);
    assert_eq!(counts(&second), (2, 2));
    // The file is loaded anew: nothing of the first is left.
    assert_eq!(counts(&boot(&path)), (0, 0));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || counts(&boot(&path)))
        })
        .collect();
    for other in others {
        assert_eq!(other.join().expect("no panic"), (0, 0));
    }
}

#[test]
fn what_cannot_be_booted_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fake(folder.path(), abi::ABI + 1);
    let said = format!(
        "its interface is {}, this program's {}",
        abi::ABI + 1,
        abi::ABI
    );
    assert!(refused(&path, &machine()).contains(&said));
    let path = fake(folder.path(), abi::ABI);
    let mut wrong = machine();
    wrong.cpus[1].capacity = 3;
    assert!(refused(&path, &wrong).contains("it does not boot (errno 22)"));
    wrong.cpus[1].domain = 1;
    assert!(refused(&path, &wrong).contains("CPU 1 is in something that is not there"));
    let mut many = machine();
    many.cpus = vec![many.cpus[0]; 9];
    assert!(refused(&path, &many).contains("at most 8 CPUs, the machine 9"));
    let text = folder.path().join("text");
    std::fs::write(&text, "no object").expect("written");
    assert!(refused(&text, &machine()).contains("text: "));
    let other = compiled(folder.path(), "int x;\n", &["-shared", "-fPIC"]);
    let said = refused(&other, &machine());
    assert!(said.contains("wpk_abi"), "{said}");
}

#[test]
fn addresses_have_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fake(folder.path(), abi::ABI);
    let symbols = Symbols::of(&path).expect("names");
    let kernel = boot(&path);
    let faults = kernel.fault_entries();
    let mut stack = [0; 4];
    assert_eq!(faults.backtrace(0, &mut stack), 1);
    let name = symbols.name(stack[0], faults.known_address());
    assert_eq!(name.as_deref(), Some("wpk_boot+0x4"));
    assert_eq!(symbols.name(1, faults.known_address()), None);
    assert!(faults.is_in_guard(1) && !faults.is_in_guard(2));
}

/// Goal: what stands in Rust is what stands in the header. A program of the header's own sizes and
/// offsets is compiled, whose output is compared.
#[test]
fn structs_are_laid_out_as_in_the_header() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = "#include <stdio.h>\n#include <stddef.h>\n#include \"wakeplace.h\"\n\
                    int main(void) {\n"
        .to_owned();
    let mut expected = format!("abi {} {}\n", abi::ABI, abi::DEAD);
    let _ = writeln!(text, "printf(\"abi %d %d\\n\", WPK_ABI, WPK_DEAD);");
    for (name, field, size, offset) in abi::layout() {
        let _ = writeln!(
            text,
            "printf(\"{name} {field} %zu %zu\\n\", sizeof(struct {name}), \
             offsetof(struct {name}, {field}));"
        );
        let _ = writeln!(expected, "{name} {field} {size} {offset}");
    }
    let _ = writeln!(text, "printf(\"ops %d %d\\n\", WPK_NOP, WPK_PARTITION);");
    let _ = writeln!(text, "printf(\"states %d %d\\n\", WPK_OFFLINE, WPK_STALL);");
    let _ = writeln!(
        text,
        "printf(\"faults %d %d\\n\", WPK_FAULT_PANIC, WPK_FAULT_STILL);"
    );
    text.push_str("return 0; }\n");
    let (first, last) = (Call::Nop.op(), Call::Partition(None).op());
    let _ = writeln!(expected, "ops {first} {last}");
    let _ = writeln!(
        expected,
        "states {} {}",
        abi::state::OFFLINE,
        abi::state::STALL
    );
    let _ = writeln!(expected, "faults 1 7");
    let program = compiled(folder.path(), &text, &[]);
    let output = Command::new(program).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
