use super::*;

fn limits() -> Limits {
    Limits {
        wall_time_ms: 180_000,
        idle_time_ms: Some(60_000),
        max_stdin_bytes: 0,
        stdout_bytes: 1_000_000,
        stderr_bytes: 1_000_000,
        total_output_bytes: 1_500_000,
        cpu_time_ms: None,
        memory_bytes: None,
        file_size_bytes: None,
        open_files: None,
    }
}

#[test]
fn core_dumps_are_always_off_and_cpu_is_rounded_up() -> Result<(), LimitError> {
    let plain = lower(&limits())?;
    assert_eq!(
        plain.resources,
        [ResourceLimit {
            resource: Resource::Core,
            soft: 0,
            hard: 0
        }]
    );
    assert_eq!(plain.supervision.wall_time, Duration::from_secs(180));
    let set = lower(&Limits {
        cpu_time_ms: Some(1_001),
        memory_bytes: Some(7),
        file_size_bytes: Some(8),
        open_files: Some(9),
        idle_time_ms: None,
        ..limits()
    })?;
    assert_eq!(
        set.resources[1],
        ResourceLimit {
            resource: Resource::Cpu,
            soft: 2,
            hard: 3
        }
    );
    assert_eq!(
        set.resources[2],
        ResourceLimit {
            resource: Resource::AddressSpace,
            soft: 7,
            hard: 7
        }
    );
    assert_eq!(set.supervision.idle_time, None);
    assert_eq!(
        set.helper_arguments(),
        [
            "--cpu",
            "2",
            "--memory",
            "7",
            "--file-size",
            "8",
            "--open-files",
            "9"
        ]
    );
    assert!(plain.helper_arguments().is_empty());
    Ok(())
}

#[test]
fn out_of_range_values_are_named() {
    for (changed, name) in [
        (
            Limits {
                wall_time_ms: 0,
                ..limits()
            },
            "wall_time",
        ),
        (
            Limits {
                idle_time_ms: Some(0),
                ..limits()
            },
            "idle_time",
        ),
        (
            Limits {
                stdout_bytes: 0,
                ..limits()
            },
            "stdout",
        ),
        (
            Limits {
                stderr_bytes: u64::MAX,
                ..limits()
            },
            "stderr",
        ),
        (
            Limits {
                total_output_bytes: 0,
                ..limits()
            },
            "total_output",
        ),
        (
            Limits {
                max_stdin_bytes: u64::MAX,
                ..limits()
            },
            "max_stdin",
        ),
        (
            Limits {
                memory_bytes: Some(u64::MAX),
                ..limits()
            },
            "memory",
        ),
        (
            Limits {
                open_files: Some(0),
                ..limits()
            },
            "open_files",
        ),
    ] {
        assert_eq!(lower(&changed), Err(LimitError::OutOfRange(name)));
    }
}

#[test]
fn hard_limits_of_the_host_are_respected() -> Result<(), LimitError> {
    let set = lower(&Limits {
        open_files: Some(4096),
        cpu_time_ms: Some(5_000),
        ..limits()
    })?;
    assert_eq!(set.check(|_| None), Ok(()));
    assert_eq!(set.check(|_| Some(4096)), Ok(()));
    let low = |resource| (resource == Resource::OpenFiles).then_some(1024);
    let error = LimitError::Unavailable {
        attribute: "open_files",
        wanted: 4096,
        hard: 1024,
    };
    assert_eq!(set.check(low), Err(error));
    assert_eq!(error.code(), "shell.resource_limit_unavailable");
    // The hard CPU limit is one second above the soft one.
    assert!(set.check(|r| (r == Resource::Cpu).then_some(5)).is_err());
    Ok(())
}

#[test]
fn a_sealed_copy_raises_file_size_only() -> Result<(), LimitError> {
    let set = lower(&Limits {
        file_size_bytes: Some(10),
        open_files: Some(64),
        ..limits()
    })?;
    let raised = set.for_sealed_copy(1_000);
    assert_eq!(
        raised[1],
        ResourceLimit {
            resource: Resource::FileSize,
            soft: 1_000,
            hard: 1_000
        }
    );
    assert_eq!(raised[2].soft, 64);
    assert_eq!(set.for_sealed_copy(5), set.resources);
    Ok(())
}
