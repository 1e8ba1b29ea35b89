//! System calls that a confined program is refused: those by which it could reach other processes, the
//! kernel, or what the other means do not see.

use std::io;

use serde::{Deserialize, Serialize};

/// What a program may do with the system beside files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SystemCallRules {
    /// Whether mounts and namespaces can be made. bubblewrap needs them, and so do sandboxes inside it.
    pub(super) may_make_namespaces: bool,
    /// Which sockets can be made.
    pub(super) sockets: SocketRules,
    /// Whether files can be cut short by name.
    pub(super) may_truncate: bool,
}

/// Which sockets a program can make. Connected pairs of its own are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SocketRules {
    /// All kinds.
    All,
    /// Those of the internet, but not those that are files: a service of the system behind one of them
    /// could do everything for the program.
    Internet,
    /// TCP alone, over which Landlock watches.
    Tcp,
    /// None.
    Nothing,
}

/// Tells whether system calls can be refused here.
#[cfg(target_os = "linux")]
pub(super) fn is_available() -> bool {
    let can_compile = seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok();
    can_compile && std::path::Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_available() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
impl SystemCallRules {
    pub(super) fn refuse(self) -> io::Result<()> {
        Err(io::Error::other(
            "system calls can be refused on Linux only",
        ))
    }
}

#[cfg(target_os = "linux")]
impl SystemCallRules {
    /// Refuses the calls to this thread and to whatever it becomes, for good.
    pub(super) fn refuse(self) -> io::Result<()> {
        for (rules, errno) in linux::filters(self)? {
            linux::install(rules, errno)?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::io;

    use nix::libc;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::{SocketRules, SystemCallRules};

    /// Rules by the number of the call. No rule at all refuses the call whatever its arguments are.
    type CallRules = BTreeMap<i64, Vec<SeccompRule>>;

    /// Calls that no confined program needs.
    const REFUSED: [i64; 38] = [
        libc::SYS_acct,
        libc::SYS_add_key,
        libc::SYS_adjtimex,
        libc::SYS_bpf,
        libc::SYS_clock_adjtime,
        libc::SYS_clock_settime,
        libc::SYS_delete_module,
        libc::SYS_fanotify_init,
        libc::SYS_finit_module,
        libc::SYS_init_module,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_uring_setup,
        libc::SYS_kcmp,
        libc::SYS_kexec_file_load,
        libc::SYS_kexec_load,
        libc::SYS_keyctl,
        libc::SYS_lookup_dcookie,
        libc::SYS_move_pages,
        libc::SYS_nfsservctl,
        libc::SYS_open_by_handle_at,
        libc::SYS_perf_event_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_process_madvise,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_ptrace,
        libc::SYS_quotactl,
        libc::SYS_quotactl_fd,
        libc::SYS_reboot,
        libc::SYS_request_key,
        libc::SYS_setdomainname,
        libc::SYS_settimeofday,
        libc::SYS_swapoff,
        libc::SYS_swapon,
        libc::SYS_syslog,
        libc::SYS_userfaultfd,
        libc::SYS_vhangup,
    ];

    /// Calls that change what a name leads to, and memory and queues that are shared by number. Inside
    /// bubblewrap these have namespaces of their own.
    const REFUSED_WITHOUT_NAMESPACES: [i64; 31] = [
        libc::SYS_chroot,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fsopen,
        libc::SYS_fspick,
        libc::SYS_mount,
        libc::SYS_mount_setattr,
        libc::SYS_move_mount,
        libc::SYS_mq_getsetattr,
        libc::SYS_mq_notify,
        libc::SYS_mq_open,
        libc::SYS_mq_timedreceive,
        libc::SYS_mq_timedsend,
        libc::SYS_mq_unlink,
        libc::SYS_msgctl,
        libc::SYS_msgget,
        libc::SYS_msgrcv,
        libc::SYS_msgsnd,
        libc::SYS_open_tree,
        libc::SYS_pivot_root,
        libc::SYS_semctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semtimedop,
        libc::SYS_sethostname,
        libc::SYS_setns,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_shmget,
        libc::SYS_umount2,
        libc::SYS_unshare,
    ];

    /// Kinds of sockets that are not streams.
    const NO_STREAMS: [i32; 6] = [
        libc::SOCK_DGRAM,
        libc::SOCK_RAW,
        libc::SOCK_RDM,
        libc::SOCK_SEQPACKET,
        // Datagrams with congestion control, and whole packets.
        6,
        10,
    ];

    /// The bits of a socket's type that tell its kind.
    const KIND_OF_SOCKET: u64 = 0xf;

    /// Puts text into the input of a terminal as if a person had typed it.
    const TYPE_FOR_A_PERSON: u64 = 0x5412;

    /// Calls of the second table of numbers that 64-bit kernels may have carry this bit.
    #[cfg(target_arch = "x86_64")]
    const SECOND_TABLE: i64 = 0x4000_0000;

    /// Returns the filters with the error that each gives.
    pub(super) fn filters(rules: SystemCallRules) -> io::Result<Vec<(CallRules, i32)>> {
        let mut calls: CallRules = REFUSED.map(|call| (call, Vec::new())).into();
        calls.insert(libc::SYS_ioctl, vec![all(&[is(1, TYPE_FOR_A_PERSON)])?]);
        calls.extend(sockets(rules.sockets)?);
        if !rules.may_truncate {
            calls.insert(libc::SYS_truncate, Vec::new());
        }
        let mut filters = Vec::new();
        if !rules.may_make_namespaces {
            calls.extend(REFUSED_WITHOUT_NAMESPACES.map(|call| (call, Vec::new())));
            let user = u64::try_from(libc::CLONE_NEWUSER).map_err(io::Error::other)?;
            calls.insert(libc::SYS_clone, vec![all(&[has(0, user, user)])?]);
            // The limits of another process.
            calls.insert(libc::SYS_prlimit64, vec![all(&[is_not(0, 0)])?]);
            // Its arguments lie in memory, where a filter does not see them; without it programs
            // take the older call.
            let newer = CallRules::from([(libc::SYS_clone3, Vec::new())]);
            filters.push((newer, libc::ENOSYS));
        }
        #[cfg(target_arch = "x86_64")]
        calls.extend(second_table(&calls));
        filters.push((calls, libc::EPERM));
        Ok(filters)
    }

    /// Returns the rules for the other numbers of the same calls.
    #[cfg(target_arch = "x86_64")]
    fn second_table(calls: &CallRules) -> CallRules {
        let moved = calls.keys().map(|call| call | SECOND_TABLE);
        // `ioctl`, `ptrace`, those that read the memory of others, and sending have numbers of their own there.
        let own = [514, 518, 521, 536, 538, 539, 540].map(|call| call | SECOND_TABLE);
        moved.chain(own).map(|call| (call, Vec::new())).collect()
    }

    fn sockets(rules: SocketRules) -> io::Result<CallRules> {
        let number = |value: i32| u64::try_from(value).map_err(io::Error::other);
        let (local, newer) = (number(libc::AF_INET)?, number(libc::AF_INET6)?);
        // Names of network devices are asked for in this way.
        let devices = number(libc::AF_NETLINK)?;
        let no_internet = [is_not(0, local), is_not(0, newer), is_not(0, devices)];
        let mut made: Vec<SeccompRule> = Vec::new();
        let mut calls = CallRules::new();
        match rules {
            SocketRules::All => return Ok(calls),
            SocketRules::Nothing => made.push(all(&[is_not(0, devices)])?),
            SocketRules::Internet => made.push(all(&no_internet)?),
            SocketRules::Tcp => {
                made.push(all(&no_internet)?);
                let tcp = number(libc::IPPROTO_TCP)?;
                for family in [local, newer] {
                    for kind in NO_STREAMS {
                        let kind = has(1, KIND_OF_SOCKET, number(kind)?);
                        made.push(all(&[is(0, family), kind])?);
                    }
                    // Landlock does not see streams of other protocols.
                    made.push(all(&[is(0, family), is_not(2, 0), is_not(2, tcp)])?);
                }
                // Nor a connection that begins with its first data.
                let begins = number(libc::MSG_FASTOPEN)?;
                for (call, argument) in [
                    (libc::SYS_sendto, 3),
                    (libc::SYS_sendmsg, 2),
                    (libc::SYS_sendmmsg, 3),
                ] {
                    calls.insert(call, vec![all(&[has(argument, begins, begins)])?]);
                }
            }
        }
        calls.insert(libc::SYS_socket, made);
        Ok(calls)
    }

    /// A condition on one argument: which, how it is compared, and with what.
    type OneArgument = (u8, SeccompCmpOp, u64);

    fn is(argument: u8, value: u64) -> OneArgument {
        (argument, SeccompCmpOp::Eq, value)
    }

    fn is_not(argument: u8, value: u64) -> OneArgument {
        (argument, SeccompCmpOp::Ne, value)
    }

    fn has(argument: u8, bits: u64, value: u64) -> OneArgument {
        (argument, SeccompCmpOp::MaskedEq(bits), value)
    }

    /// Returns the rule that refuses a call if all conditions hold.
    fn all(conditions: &[OneArgument]) -> io::Result<SeccompRule> {
        let conditions = conditions.iter().map(|(argument, operator, value)| {
            let length = SeccompCmpArgLen::Dword;
            SeccompCondition::new(*argument, length, operator.clone(), *value)
        });
        let conditions: Result<Vec<_>, _> = conditions.collect();
        SeccompRule::new(conditions.map_err(io::Error::other)?).map_err(io::Error::other)
    }

    /// Lets the kernel answer the calls with `errno`.
    pub(super) fn install(calls: CallRules, errno: i32) -> io::Result<()> {
        let target = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let answer = SeccompAction::Errno(u32::try_from(errno).map_err(io::Error::other)?);
        let filter = SeccompFilter::new(calls, SeccompAction::Allow, answer, target);
        let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
        let program = program.map_err(io::Error::other)?;
        seccompiler::apply_filter(&program).map_err(io::Error::other)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_kind_of_rules_becomes_a_filter() {
            for may_make_namespaces in [false, true] {
                for sockets in [
                    SocketRules::All,
                    SocketRules::Internet,
                    SocketRules::Tcp,
                    SocketRules::Nothing,
                ] {
                    let rules = SystemCallRules {
                        may_make_namespaces,
                        sockets,
                        may_truncate: false,
                    };
                    for (calls, errno) in filters(rules).expect("rules") {
                        let target = TargetArch::try_from(std::env::consts::ARCH).expect("known");
                        let answer = SeccompAction::Errno(errno.unsigned_abs());
                        let filter =
                            SeccompFilter::new(calls, SeccompAction::Allow, answer, target);
                        let program: BpfProgram =
                            filter.expect("rules").try_into().expect("a program");
                        assert!(!program.is_empty());
                    }
                }
            }
        }
    }
}
