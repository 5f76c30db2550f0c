// SPDX-License-Identifier: Apache-2.0

extension Preset {
    static let all = documented + platforms + recorded

    /// Presets whose bodies were written after the systems' documentation.
    static let documented: [Preset] = [
        Preset(
            file: "awx", source: "awx-jobs",
            polls: ["awx-1.json", "awx-2.json+awx-2-p2.json", "awx-3.json"],
            events: [
                "2 ~ site.git: state running → successful", "2 ~ Deploy site: state pending → running",
                "2 + Nightly: waiting",
                "3 ~ Deploy site: explanation  → Previous Task Failed: web-2 unreachable, state running → failed",
                "3 ~ Nightly: state waiting → successful",
            ],
            sent: [
                "awx-bubble (awx-job-done)", "awx-bubble (awx-job-failed): Deploy site failed",
                "awx-hook (awx-job-failed)", "awx-bubble (awx-job-done)",
            ]),
        Preset(
            file: "booked-systems", source: "bookings", polls: ["bookings-1.json", "bookings-2.json"],
            events: [
                "2 ~ Load test of the portal: state running → over", "2 ~ Training, day 2: state booked → running",
                "2 ~ Demo \"R&D\": state booked → cancelled",
            ],
            sent: ["booked-stop (booking-is-over)", "booked-start (booking-begins)"]),
        Preset(
            file: "system-status-update", source: "announced-systems",
            polls: ["../cloudburst-virtualSystems-3.json", "../cloudburst-virtualSystems-4.json"],
            events: [
                "2 ~ Nightly build cell: args Join cell → , message RM07054 → RM07045, state Starting → Ready for use",
                "2 ~ Search index rebuild: message RM07902 → RM07045, state Starting → Ready for use",
                "2 + Hotfix verify: Ready for use",
            ],
            sent: [
                "announced-status (announce-system)", "announced-status (announce-system)",
                "announced-status (announce-system)",
            ]),
        Preset(
            file: "cloud-pak-system", source: "cloud-pak-instances",
            polls: ["cloud-pak-system-1.json", "cloud-pak-system-2.json", "cloud-pak-system-3.json"],
            events: [
                "2 ~ Orders: health UNKNOWN → NORMAL, state LAUNCHING → RUNNING", "2 + Search: LAUNCHING",
                "3 ~ Search: health UNKNOWN → CRITICAL, state LAUNCHING → FAILED",
                "3 ~ Billing: state RUNNING → STOPPED",
            ],
            sent: [
                "cloud-pak-bubble (cloud-pak-instance-running): Orders is running",
                "cloud-pak-bubble (cloud-pak-instance-failed)", "cloud-pak-log (cloud-pak-instance-failed)",
            ]),
        Preset(
            file: "cloud-pak-system", source: "cloud-pak-classic",
            polls: [
                "../cloudburst-virtualSystems-1.json", "../cloudburst-virtualSystems-2.json",
                "../cloudburst-virtualSystems-3.json", "../cloudburst-virtualSystems-4.json",
            ],
            events: [
                "2 ~ Portal QA: message RM07045 → RM07903, state Ready for use → RM01903",
                "2 ~ WAS lab clone 05: args 05Lab Script → Install fix pack",
                "2 ~ Nightly build cell: message RM07901 → RM07902, state RM01901 → Starting",
                "2 ~ Payments perf: args  → Load data, message RM07902 → RM07054", "2 + Search index rebuild: RM01901",
                "3 ~ sandbox (renamed): title sandbox → sandbox (renamed)",
                "3 ~ Search index rebuild: message RM07901 → RM07902, state RM01901 → Starting",
                "3 ~ Portal QA: message RM07903 → RM07153, state RM01903 → Stopped",
                "3 ~ WAS lab clone 05: args Install fix pack → , message RM07054 → RM07045, state Starting → Ready for use",
                "3 ~ Nightly build cell: args  → Join cell, message RM07902 → RM07054",
                "3 ~ Payments perf: args Load data → Load data, rc=1, message RM07054 → RM07904, state Starting → RM01902",
                "4 ~ Nightly build cell: args Join cell → , message RM07054 → RM07045, state Starting → Ready for use",
                "4 ~ Search index rebuild: message RM07902 → RM07045, state Starting → Ready for use",
                "4 + Hotfix verify: Ready for use",
            ],
            sent: [
                "cloud-pak-bubble (cloud-pak-classic-ready): WAS lab clone 05 is ready",
                "cloud-pak-bubble (cloud-pak-classic-ready): Nightly build cell is ready",
                "cloud-pak-bubble (cloud-pak-classic-ready): Search index rebuild is ready",
            ]),
        Preset(
            file: "connections-legacy", source: "connections-updates",
            polls: [
                "../connections-public-1.xml+../connections-public-1-p2.xml",
                "../connections-public-2.xml+../connections-public-2-p2.xml",
                "../connections-public-3.xml+../connections-public-3-p2.xml",
            ],
            events: [
                "2 + Ravi Natarajan: staging was me, fixed: ",
                "2 + Sana Ilyas created a blog entry named Moving day plan.: ",
                "2 + June Park uploaded the file oncall-rota.ics.: ",
                "2 ~ Ravi Natarajan replied to the topic Flaky smoke test.: content Same here since Monday. → Same here since Monday. Edit: only on the arm64 agents.",
                "2 + Mira Okafor updated the wiki page Release checklist.: ",
                "3 + Lena Björk: Ready for use! <the new lab> \"alpha\": ",
                "3 + Tomás Varga replied to the topic Flaky smoke test.: ",
            ],
            sent: [
                "connections-atom-hook (connections-new-update)", "connections-atom-hook (connections-new-update)",
                "connections-atom-hook (connections-new-update)", "connections-atom-hook (connections-new-update)",
                "connections-atom-hook (connections-new-update)", "connections-atom-hook (connections-new-update)",
            ]),
        Preset(
            file: "connections-stream", source: "connections-stream",
            polls: ["../connections-activitystreams-public.json", "connections-stream-2.json"],
            events: ["2 + Ana Souza: The build is green again: "],
            sent: ["connections-hook (connections-story)", "connections-bubble (connections-status-update): Ana Souza"]),
        Preset(
            file: "evri", source: "evri-articles",
            polls: ["../evri-related.xml", "evri-related-2.xml"],
            events: ["2 + Notes & letters go on show: "],
            sent: [
                "evri-bubble (evri-new-article): Notes & letters go on show", "evri-log (evri-article-about-a-person)",
            ]),
        Preset(
            file: "github-actions", source: "github-runs",
            polls: ["github-actions-1.json", "github-actions-2.json", "github-actions-3.json"],
            events: [
                "2 ~ Add paging by cursor: state in_progress → completed/failure", "2 + Release 2.0: queued",
                "3 + Add paging by cursor: queued", "3 ~ Release 2.0: state queued → completed/success",
            ],
            sent: [
                "github-bubble (github-run-failed): CI failed on paging", "github-log (github-run-failed)",
                "github-log (github-main-is-green)",
            ]),
        Preset(
            file: "github-atom", source: "github-releases",
            polls: ["github-releases-1.atom", "github-releases-2.atom", "github-releases-3.atom"],
            events: ["2 + v2.0.0-rc1: ", "3 + Octo 2.0 & friends: "],
            sent: [
                "github-news-bubble (github-new-release): New release: Octo 2.0 & friends",
                "github-news-hook (github-new-release)",
            ]),
        Preset(
            file: "gitlab-ci", source: "gitlab-pipelines",
            polls: ["gitlab-ci-1.json", "gitlab-ci-2.json", "gitlab-ci-3.json"],
            events: [
                "2 ~ main: state created → running", "2 + topic: pending", "3 ~ main: state running → success",
                "3 ~ topic: state pending → failed",
            ],
            sent: [
                "gitlab-bubble (gitlab-pipeline-passed)",
                "gitlab-bubble (gitlab-pipeline-failed): Pipeline 4703 failed", "gitlab-hook (gitlab-pipeline-failed)",
            ]),
        Preset(
            file: "google-search", source: "search-results",
            polls: ["../google-search.json", "google-search-2.json"],
            events: ["2 + A watcher appears & it's <new>: "],
            sent: ["search-log (search-new-result)"]),
        Preset(
            file: "jenkins", source: "jenkins-jobs",
            polls: ["jenkins-1.json", "jenkins-2.json", "jenkins-3.json", "jenkins-4.json", "jenkins-5.json"],
            events: [
                "2 ~ team/build: build 41 → 42, result SUCCESS → ∅, state success → building",
                "2 ~ team/deploy: build ∅ → 1, state not built → building",
                "3 ~ team/build: result ∅ → FAILURE, state building → failed",
                "3 ~ team/deploy: result ∅ → SUCCESS, state building → success",
                "4 ~ team/build: build 42 → 43, result FAILURE → ∅, state failed → building",
                "5 ~ team/build: result ∅ → SUCCESS, state building → success", "5 - team/old: disabled",
            ],
            sent: [
                "jenkins-bubble (jenkins-job-broken): team/build is failed", "jenkins-log (jenkins-job-broken)",
                "jenkins-log (jenkins-job-mended)", "jenkins-log (jenkins-job-mended)",
                "jenkins-log (jenkins-job-gone)",
            ]),
        Preset(
            file: "kubernetes", source: "kube-pods",
            polls: [
                "kubernetes-1.json+kubernetes-1-p2.json", "kubernetes-2.json+kubernetes-2-p2.json", "kubernetes-3.json",
                "kubernetes-3.json",
            ],
            events: [
                "2 ~ web-1: node ∅ → node-1, ready ∅ → true, state Pending → Running",
                "2 ~ web-2: ready true → false, reason ∅ → CrashLoopBackOff",
                "2 ~ job-1: ready true → false, state Running → Failed", "4 - job-1: Failed",
            ],
            sent: [
                "kube-bubble (kube-pod-up)", "kube-bubble (kube-pod-crashes): web-2: CrashLoopBackOff",
                "kube-hook (kube-pod-crashes)", "kube-hook (kube-pod-failed)",
            ]),
        Preset(
            file: "mastodon", source: "mastodon-account",
            polls: ["mastodon-1.json", "mastodon-2.json", "mastodon-3.json"],
            events: [
                "2 + The API is down, see https://status.example.com: ", "2 + outage: ",
                "3 ~ All systems were up & fine.: edited ∅ → 2026-11-21T09:30:00.000Z, text All systems are up & fine. → All systems were up & fine., title All systems are up & fine. → All systems were up & fine.",
            ],
            sent: [
                "mastodon-bubble (mastodon-new-post): ops posted", "mastodon-bubble (mastodon-new-post): ops posted",
                "mastodon-log (mastodon-post-edited)",
            ]),
        Preset(
            file: "mastodon", source: "mastodon-public",
            polls: ["mastodon-1.json", "mastodon-2.json", "mastodon-3.json"],
            events: [
                "2 + The API is down, see https://status.example.com: ", "2 + outage: ",
                "3 ~ All systems were up & fine.: title All systems are up & fine. → All systems were up & fine.",
            ],
            sent: ["mastodon-log (mastodon-outage-is-talked-about)", "mastodon-log (mastodon-outage-is-talked-about)"]),
        Preset(
            file: "openstack-nova", source: "nova-servers",
            polls: [
                "openstack-nova-1.json+openstack-nova-1-p2.json", "openstack-nova-2.json+openstack-nova-2-p2.json",
                "openstack-nova-3.json", "openstack-nova-3.json",
            ],
            events: [
                "2 ~ web-1: state BUILD/scheduling → ACTIVE, vm_state building → active",
                "2 ~ web-2: fault ∅ → No valid host was found. , state BUILD/spawning → ERROR, vm_state building → error",
                "3 ~ db-1: state ACTIVE → SHUTOFF, vm_state active → stopped", "4 - web-2: ERROR",
            ],
            sent: [
                "nova-bubble (nova-server-ready): web-1 is active", "nova-bubble (nova-server-failed): web-2 failed",
                "nova-hook (nova-server-failed)", "nova-hook (nova-server-gone)",
            ]),
        Preset(
            file: "proxmox", source: "proxmox-guests",
            polls: ["proxmox-1.json", "proxmox-2.json", "proxmox-3.json"],
            events: [
                "2 ~ db: state stopped → running", "2 ~ web: lock ∅ → migrate", "2 ~ dns: state running → stopped",
                "3 ~ web: lock migrate → ∅, node pve1 → pve2",
            ],
            sent: [
                "proxmox-log (proxmox-guest-started)", "proxmox-bubble (proxmox-guest-stopped): dns stopped",
                "proxmox-log (proxmox-guest-stopped)", "proxmox-log (proxmox-guest-moved)",
            ]),
        Preset(
            file: "statuspage", source: "status-incidents",
            polls: [
                "statuspage-incidents-1.json", "statuspage-incidents-2.json", "statuspage-incidents-3.json",
                "statuspage-incidents-1.json", "statuspage-incidents-1.json",
            ],
            events: [
                "2 + Errors when signing in: investigating",
                "3 ~ Errors when signing in: state investigating → monitoring, update We are looking into it. → A fix is in place.",
                "5 - Errors when signing in: monitoring",
            ],
            sent: [
                "status-bubble (status-incident-opened): Errors when signing in (major)",
                "status-hook (status-incident-opened)",
                "status-bubble (status-incident-goes-on): Errors when signing in: monitoring",
                "status-bubble (status-incident-resolved)", "status-hook (status-incident-resolved)",
            ]),
        Preset(
            file: "statuspage", source: "status-components",
            polls: ["statuspage-components-1.json", "statuspage-components-2.json", "statuspage-components-3.json"],
            events: [
                "2 ~ Web: state operational → degraded_performance", "2 ~ API: state operational → major_outage",
                "3 ~ API: state major_outage → operational", "3 ~ Web: state degraded_performance → operational",
            ],
            sent: ["status-hook (status-component-down)"]),
        Preset(
            file: "systemd", source: "systemd-services",
            polls: ["systemd-1.json", "systemd-2.json", "systemd-3.json", "systemd-3.json"],
            events: [
                "2 ~ backup.service: state inactive → failed, sub dead → failed",
                "2 ~ web@1.service: state active → activating, sub running → auto-restart",
                "3 ~ backup.service: state failed → active, sub failed → running",
                "4 - web@1.service: activating",
            ],
            sent: [
                "systemd-bubble (systemd-service-failed): backup.service has failed",
                "systemd-hook (systemd-service-failed): backup.service: inactive → failed",
                "systemd-bubble (systemd-service-restarts): web@1.service: sub running → auto-restart (suppressed: 1 of 3 within 10 min)",
                "systemd-bubble (systemd-service-repaired): backup.service: failed → active",
            ]),
        Preset(
            file: "home-assistant", source: "home-entities",
            polls: [
                "home-assistant-1.json", "home-assistant-2.json", "home-assistant-3.json", "home-assistant-3.json",
            ],
            events: [
                "2 ~ Front door: state off → on",
                "2 ~ Anna: state home → not_home",
                "2 ~ Home Assistant Core Update: state off → on",
                "3 ~ Front door: state on → unavailable",
                "3 ~ Garage: state locked → unlocked",
                "3 ~ Anna: state not_home → home",
                "4 - Home Assistant Core Update: on",
            ],
            sent: [
                "home-bubble (home-opened): Front door: off → on",
                "home-log (home-opened): Front door: off → on",
                "home-log (home-person): Anna: home → not_home",
                "home-bubble (home-update): Home Assistant Core Update: 2026.11.1 → 2026.11.2",
                "home-bubble (home-opened): Garage: locked → unlocked",
                "home-log (home-opened): Garage: locked → unlocked",
                "home-log (home-person): Anna: not_home → home",
            ]),
        Preset(
            file: "uptime-kuma", source: "kuma-monitors",
            polls: ["uptime-kuma-1.txt", "uptime-kuma-2.txt", "uptime-kuma-3.txt", "uptime-kuma-3.txt"],
            events: [
                "2 ~ Web shop: state 1 → 2",
                "2 ~ Name \\\"server\\\": state 1 → 0",
                "3 ~ Web shop: state 2 → 1",
                "4 - Name \\\"server\\\": 0",
            ],
            sent: [
                "kuma-bubble (kuma-down): Name \\\"server\\\" is down",
                "kuma-log (kuma-down): Name \\\"server\\\": 1 → 0",
                "kuma-bubble (kuma-up): Web shop is up after 1 min",
            ]),
        Preset(
            file: "uptime-kuma", source: "kuma-monitors",
            polls: ["uptime-kuma-1.txt", "uptime-kuma-v2.txt"],
            events: [
                "2 ~ Web shop: state 1 → 2",
                "2 ~ Name \\\"server\\\": state 1 → 0",
            ],
            sent: [
                "kuma-bubble (kuma-down): Name \\\"server\\\" is down",
                "kuma-log (kuma-down): Name \\\"server\\\": 1 → 0",
            ]),
        Preset(
            file: "gitea", source: "gitea-runs",
            polls: ["gitea-runs-1.json", "gitea-runs-2.json", "gitea-runs-3.json"],
            events: [
                "2 ~ Fix the parser: state running → failure",
                "2 + Bump a version: waiting",
                "3 ~ Bump a version: state waiting → success",
            ],
            sent: [
                "gitea-bubble (gitea-run-failed): ci.yml failed on main",
                "gitea-log (gitea-run-failed): Fix the parser: running → failure",
            ]),
        Preset(
            file: "gitea", source: "gitea-pulls",
            polls: ["gitea-pulls-1.json", "gitea-pulls-2.json", "gitea-pulls-3.json", "gitea-pulls-3.json"],
            events: [
                "2 + WIP: a new page: ",
                "2 ~ Read the date: head a1b2 → e5f6",
                "3 ~ A new page: draft true → false, title WIP: a new page → A new page",
                "4 - Read the date: ",
            ],
            sent: [
                "gitea-bubble (gitea-pull-opened): anna: WIP: a new page",
                "gitea-log (gitea-pull-pushed): Read the date: head a1b2 → e5f6",
                "gitea-log (gitea-pull-closed): Read the date is gone",
            ]),
        Preset(
            file: "gitea", source: "gitea-releases",
            polls: ["gitea-releases-1.json", "gitea-releases-2.json"],
            events: [
                "2 + Version 1.3.0-rc.1: ",
                "2 + Version 1.3.0: ",
            ],
            sent: [
                "gitea-bubble (gitea-release): Version 1.3.0"
            ]),
        Preset(
            file: "vedette", source: "other-watcher", polls: ["vedette-1.atom", "vedette-2.atom"],
            events: ["2 + blog & news is failing: "],
            sent: [
                "watcher-bubble (other-watcher-trouble): Seen by another watcher: blog & news is failing"
            ]),
    ]
}
