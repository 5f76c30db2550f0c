// SPDX-License-Identifier: Apache-2.0

extension Preset {
    /// Presets whose bodies were recorded from the systems themselves, which `contrib/systems/run` starts.
    static let recorded: [Preset] = [
        Preset(
            file: "ec2", source: "ec2-instances",
            polls: ["ec2-1.xml", "ec2-2.xml", "ec2-3.xml", "ec2-4.xml", "ec2-4.xml"],
            events: [
                "2 + web-2: running",
                "3 ~ web-1: state running → stopped",
                "5 - web-1: stopped",
            ],
            sent: [
                "ec2-bubble (ec2-instance-running): web-2 is running",
                "ec2-bubble (ec2-instance-ended): web-1: running → stopped",
                "ec2-hook (ec2-instance-ended): web-1: running → stopped",
            ]),
        Preset(
            file: "openstack-keystone", source: "keystone-users",
            polls: [
                "openstack-keystone-users-1.json", "openstack-keystone-users-2.json", "openstack-keystone-users-3.json",
                "openstack-keystone-users-3.json",
            ],
            events: [
                "2 ~ anna: state enabled → disabled", "2 + deploy: enabled", "4 - anna: disabled",
            ],
            sent: [
                "keystone-bubble (keystone-user-new): New user deploy", "keystone-log (keystone-user-new)",
                "keystone-log (keystone-switched): anna: enabled → disabled",
                "keystone-log (keystone-gone): anna is gone",
            ]),
        Preset(
            file: "openstack-keystone", source: "keystone-projects",
            polls: ["openstack-keystone-projects-1.json", "openstack-keystone-projects-2.json"],
            events: ["2 ~ lab: state enabled → disabled"],
            sent: ["keystone-log (keystone-switched): lab: enabled → disabled"]),
        Preset(
            file: "prometheus", source: "prometheus-targets",
            polls: ["prometheus-1.json", "prometheus-2.json", "prometheus-3.json", "prometheus-3.json"],
            events: [
                "2 ~ node web-1.example.com:9100: state up → down",
                "4 - node web-1.example.com:9100: down",
            ],
            sent: [
                "prometheus-bubble (prometheus-target-down): node web-1.example.com:9100: up → down",
                "prometheus-log (prometheus-target-down): node web-1.example.com:9100: up → down",
                "prometheus-log (prometheus-target-gone): node web-1.example.com:9100 is gone",
                "prometheus-bubble (prometheus-target-down): node web-1.example.com:9100 is gone",
                "prometheus-log (prometheus-target-down): node web-1.example.com:9100 is gone",
            ]),
        Preset(
            file: "alertmanager", source: "alertmanager-alerts",
            polls: [
                "alertmanager-1.json", "alertmanager-2.json", "alertmanager-3.json", "alertmanager-1.json",
                "alertmanager-1.json",
            ],
            events: [
                "2 + web-1 is down: active",
                "3 ~ web-1 is down: state active → suppressed",
                "5 - web-1 is down: suppressed",
            ],
            sent: [
                "alertmanager-bubble (alertmanager-critical): web-1 is down: active",
                "alertmanager-log (alertmanager-critical): web-1 is down: active",
                "alertmanager-bubble (alertmanager-critical): web-1 is down: active → suppressed",
                "alertmanager-log (alertmanager-critical): web-1 is down: active → suppressed",
                "alertmanager-log (alertmanager-ended): web-1 is down is gone",
            ]),
        Preset(
            file: "icinga2", source: "icinga-services",
            polls: ["icinga2-services-1.json", "icinga2-services-2.json", "icinga2-services-3.json"],
            events: [
                "2 ~ Web 1 http: state OK → CRITICAL",
                "3 ~ Web 1 http: state CRITICAL → OK",
            ],
            sent: [
                "icinga-bubble (icinga-problem): Web 1 http is CRITICAL",
                "icinga-log (icinga-problem): Web 1 http: OK → CRITICAL",
                "icinga-log (icinga-repaired): Web 1 http: CRITICAL → OK",
            ]),
        Preset(
            file: "icinga2", source: "icinga-hosts",
            polls: ["icinga2-hosts-1.json", "icinga2-hosts-2.json"],
            events: [
                "2 ~ Web 1: state UP → DOWN"
            ],
            sent: [
                "icinga-bubble (icinga-problem): Web 1 is DOWN",
                "icinga-log (icinga-problem): Web 1: UP → DOWN",
            ]),
        Preset(
            file: "rabbitmq", source: "rabbitmq-queues",
            polls: ["rabbitmq-1.json", "rabbitmq-2.json", "rabbitmq-3.json", "rabbitmq-3.json"],
            events: [
                "2 ~ orders: messages 0 → 1200",
                "4 - orders: running",
            ],
            sent: [
                "rabbitmq-bubble (rabbitmq-backlog): orders holds 1200 messages",
                "rabbitmq-log (rabbitmq-queue-gone): orders is gone",
            ]),
        Preset(
            file: "docker-registry", source: "registry-repositories",
            polls: [
                "docker-registry-catalog-1.json", "docker-registry-catalog-2.json", "docker-registry-catalog-1.json",
                "docker-registry-catalog-1.json",
            ],
            events: [
                "2 + team/tool: ",
                "4 - team/tool: ",
            ],
            sent: [
                "registry-bubble (registry-new-repository): team/tool"
            ]),
        Preset(
            file: "docker-registry", source: "registry-tags",
            polls: [
                "docker-registry-tags-1.json", "docker-registry-tags-2.json", "docker-registry-tags-1.json",
                "docker-registry-tags-1.json",
            ],
            events: [
                "2 + 1.2: ",
                "4 - 1.2: ",
            ],
            sent: [
                "registry-bubble (registry-new-tag): team/app:1.2 was pushed"
            ]),
        Preset(
            file: "etcd", source: "etcd-members",
            polls: [
                "etcd-members-1.json", "etcd-members-2.json", "etcd-members-3.json", "etcd-members-1.json",
                "etcd-members-1.json",
            ],
            events: [
                "2 + 4301794370166847202: ",
                "3 ~ etcd-2: addresses ∅ → http://lab.example.com:2379, learner true → ∅, title ∅ → etcd-2",
                "5 - etcd-2: ",
            ],
            sent: [
                "etcd-log (etcd-member-added): 4301794370166847202",
                "etcd-bubble (etcd-member-removed): etcd-2 is gone",
                "etcd-log (etcd-member-removed): etcd-2 is gone",
            ]),
        Preset(
            file: "supervisor", source: "supervisor-programs",
            polls: ["supervisor-1.xml", "supervisor-2.xml", "supervisor-3.xml"],
            events: [
                "2 ~ worker: state STOPPED → RUNNING",
                "3 ~ web: state RUNNING → EXITED",
            ],
            sent: [
                "supervisor-log (supervisor-program-running): worker: STOPPED → RUNNING",
                "supervisor-bubble (supervisor-program-failed): web: RUNNING → EXITED",
                "supervisor-log (supervisor-program-failed): web: RUNNING → EXITED",
            ]),
        Preset(
            file: "buildbot", source: "buildbot-builds",
            polls: ["buildbot-1.json", "buildbot-2.json", "buildbot-3.json"],
            events: [
                "2 + linux #2: building",
                "3 ~ linux #2: state building → failure",
            ],
            sent: [
                "buildbot-bubble (buildbot-failed): linux #2: failure",
                "buildbot-hook (buildbot-failed): linux #2: building → failure",
            ]),
        Preset(
            file: "transmission", source: "transmission-torrents",
            polls: [
                "transmission-1.json", "transmission-2.json", "transmission-3.json", "transmission-4.json",
                "transmission-4.json",
            ],
            events: [
                "2 ~ data.bin: state downloading → seeding",
                "3 ~ data.bin: error  → No data found! Ensure your drives are connected or use \"Set Location\". To re-download, remove the torrent and re-add it., state seeding → stopped",
                "5 - data.bin: stopped",
            ],
            sent: [
                "transmission-bubble (transmission-done): data.bin is complete",
                "transmission-bubble (transmission-error): data.bin",
                "transmission-log (transmission-error): data.bin: error changed",
            ]),
        Preset(
            file: "aria2", source: "aria2-downloads",
            polls: ["aria2-1.json", "aria2-2.json", "aria2-3.json"],
            events: [
                "2 ~ /srv/lab/good.bin: state active → complete",
                "3 + http://lab.example.com:8000/missing.bin: error",
            ],
            sent: [
                "aria2-bubble (aria2-complete): Complete: /srv/lab/good.bin",
                "aria2-bubble (aria2-failed): Failed: http://lab.example.com:8000/missing.bin",
            ]),
        Preset(
            file: "syncthing", source: "syncthing-devices",
            polls: ["syncthing-devices-1.json", "syncthing-devices-2.json", "syncthing-devices-1.json"],
            events: [
                "2 ~ RSOBCRT-ZCYNPHK-YVCFESB-Z2Y6TG6-3JTAUDM-AAX3HBB-24CWHRW-J4SHKAQ: state disconnected → connected",
                "3 ~ RSOBCRT-ZCYNPHK-YVCFESB-Z2Y6TG6-3JTAUDM-AAX3HBB-24CWHRW-J4SHKAQ: state connected → disconnected",
            ],
            sent: [
                "syncthing-log (syncthing-device): RSOBCRT-ZCYNPHK-YVCFESB-Z2Y6TG6-3JTAUDM-AAX3HBB-24CWHRW-J4SHKAQ: connected → disconnected"
            ]),
        Preset(
            file: "syncthing", source: "syncthing-folder",
            polls: ["syncthing-folder-1.json", "syncthing-folder-2.json", "syncthing-folder-3.json"],
            events: [
                "2 ~ syncthing-folder: needed 3 → 0, state syncing → idle",
                "3 ~ syncthing-folder: error ∅ → folder marker missing (this indicates potential data loss, search docs/forum to get information about how to proceed), state idle → error",
            ],
            sent: [
                "syncthing-bubble (syncthing-in-sync): syncthing-folder is in sync",
                "syncthing-bubble (syncthing-folder-error): syncthing-folder cannot be synchronized",
            ]),
        Preset(
            file: "syncthing", source: "syncthing-errors",
            polls: ["syncthing-errors-1.json", "syncthing-errors-2.json"],
            events: [
                "2 + Syncthing should not run as a privileged or system user. Please consider using a normal user account.: ",
                "2 + a message of an operator: ",
            ],
            sent: [
                "syncthing-bubble (syncthing-error): Syncthing should not run as a privileged or system user. Please consider using a normal user account.",
                "syncthing-bubble (syncthing-error): a message of an operator",
            ]),
        Preset(
            file: "radicale", source: "caldav-appointments",
            polls: ["radicale-1.xml", "radicale-2.xml", "radicale-3.xml", "radicale-4.xml", "radicale-4.xml"],
            events: [
                "2 + Review: ",
                "3 ~ Stand-up: etag \"b607f004791621b2d2131406e3010035f9e490daf3f5edf6ecc17996c0eced47\" → \"a276fc06b113f4fe09f6cdd09fee16620201692438f30807e3478137e3a4584b\"",
                "5 - Review: ",
            ],
            sent: [
                "caldav-bubble (caldav-new): Review",
                "caldav-bubble (caldav-changed): Stand-up was changed",
                "caldav-bubble (caldav-cancelled): Review is gone",
            ]),
        Preset(
            file: "radicale", source: "caldav-calendars",
            polls: ["radicale-calendars-1.xml", "radicale-calendars-2.xml"],
            events: ["2 + me/team: "], sent: ["caldav-bubble (caldav-new-calendar): me/team"]),
    ]
}
