// SPDX-License-Identifier: Apache-2.0

extension Preset {
    /// Presets of clouds, clusters and servers at home, whose bodies were written after the systems' documentation.
    static let platforms: [Preset] = [
        Preset(
            file: "cloud-pak-system", source: "cloud-pak-operations",
            polls: ["cloud-pak-operations-1.json", "cloud-pak-operations-2.json", "cloud-pak-operations-3.json"],
            events: [
                "2 + backup.py of orders.WAS: RUNNING",
                "3 ~ backup.py of orders.WAS: state RUNNING → COMPLETED",
            ],
            sent: [
                "cloud-pak-log (cloud-pak-operation): backup.py of orders.WAS: RUNNING",
                "cloud-pak-log (cloud-pak-operation): backup.py of orders.WAS: RUNNING → COMPLETED",
            ]),
        Preset(
            file: "connections-for-me", source: "connections-mentions",
            polls: ["connections-for-me-1.json", "connections-for-me-mentions-2.json"],
            events: ["2 + Lena Björk mentioned you in a comment: see the plan: "],
            sent: ["connections-me-bubble (connections-mentioned): Lena Björk"]),
        Preset(
            file: "connections-for-me", source: "connections-actions",
            polls: ["connections-for-me-1.json", "connections-for-me-actions-2.json"],
            events: ["2 + Ravi Natarajan assigned you the to-do item Order disks.: "],
            sent: ["connections-me-bubble (connections-mentioned): Ravi Natarajan"]),
        Preset(
            file: "connections-for-me", source: "connections-responses",
            polls: ["connections-for-me-1.json", "connections-for-me-responses-2.json"],
            events: ["2 + June Park liked your file oncall-rota.ics.: "],
            sent: ["connections-me-bubble (connections-answered)"]),
        Preset(
            file: "connections-for-me", source: "connections-community",
            polls: ["connections-for-me-1.json", "connections-for-me-mentions-2.json"],
            events: ["2 + Lena Björk mentioned you in a comment: see the plan: "],
            sent: ["connections-me-log (connections-in-the-community)"]),
        Preset(
            file: "system-status-microblog", source: "microblogged-systems",
            polls: ["../cloudburst-virtualSystems-3.json", "../cloudburst-virtualSystems-4.json"],
            events: [
                "2 ~ Nightly build cell: args Join cell → , message RM07054 → RM07045, state Starting → Ready for use",
                "2 ~ Search index rebuild: message RM07902 → RM07045, state Starting → Ready for use",
                "2 + Hotfix verify: Ready for use",
            ],
            sent: ["microblog (microblog-system)", "microblog (microblog-system)", "microblog (microblog-system)"]),
        Preset(
            file: "vcenter", source: "vcenter-machines",
            polls: [
                "vcenter-machines-1.json", "vcenter-machines-2.json", "vcenter-machines-3.json",
                "vcenter-machines-3.json",
            ],
            events: [
                "2 ~ web-1: memory 4096 → 8192", "2 ~ db-1: state POWERED_ON → POWERED_OFF",
                "2 ~ build: state POWERED_OFF → POWERED_ON", "2 + web-2: POWERED_OFF", "4 - build: POWERED_ON",
            ],
            sent: [
                "vcenter-bubble (vcenter-machine-off): db-1: POWERED_ON → POWERED_OFF",
                "vcenter-log (vcenter-machine-off): db-1: POWERED_ON → POWERED_OFF",
                "vcenter-log (vcenter-machine-gone): build is gone",
            ]),
        Preset(
            file: "vcenter", source: "vcenter-hosts",
            polls: ["vcenter-hosts-1.json", "vcenter-hosts-2.json", "vcenter-hosts-1.json"],
            events: [
                "2 ~ esx-2.example.com: state CONNECTED/POWERED_ON → NOT_RESPONDING",
                "3 ~ esx-2.example.com: state NOT_RESPONDING → CONNECTED/POWERED_ON",
            ],
            sent: [
                "vcenter-bubble (vcenter-host-lost): esx-2.example.com: CONNECTED/POWERED_ON → NOT_RESPONDING",
                "vcenter-log (vcenter-host-lost): esx-2.example.com: CONNECTED/POWERED_ON → NOT_RESPONDING",
                "vcenter-bubble (vcenter-host-lost): esx-2.example.com: NOT_RESPONDING → CONNECTED/POWERED_ON",
                "vcenter-log (vcenter-host-lost): esx-2.example.com: NOT_RESPONDING → CONNECTED/POWERED_ON",
            ]),
        Preset(
            file: "vcenter", source: "vcenter-datastores",
            polls: ["vcenter-datastores-1.json", "vcenter-datastores-2.json"],
            events: ["2 ~ archive: free 60000000000 → 40000000000"],
            sent: ["vcenter-bubble (vcenter-datastore-full): archive is almost full"]),
        Preset(
            file: "portainer", source: "portainer-environments",
            polls: ["portainer-environments-1.json", "portainer-environments-2.json", "portainer-environments-1.json"],
            events: ["2 ~ edge: state up → down", "3 ~ edge: state down → up"],
            sent: [
                "portainer-bubble (portainer-environment-down): edge: up → down",
                "portainer-log (portainer-environment-down): edge: up → down",
                "portainer-bubble (portainer-environment-down): edge: down → up",
                "portainer-log (portainer-environment-down): edge: down → up",
            ]),
        Preset(
            file: "portainer", source: "portainer-containers",
            polls: [
                "portainer-containers-1.json", "portainer-containers-2.json", "portainer-containers-3.json",
                "portainer-containers-3.json",
            ],
            events: [
                "2 ~ /db: state running → exited", "2 ~ /backup: state exited → running",
                "3 ~ /web: image nginx:1.29 → nginx:1.30", "3 ~ /backup: state running → exited",
            ],
            sent: [
                "portainer-log (portainer-container-updated): /web: image nginx:1.29 → nginx:1.30",
                "portainer-bubble (portainer-container-stopped): /db is exited",
                "portainer-log (portainer-container-stopped): /db",
                "portainer-bubble (portainer-container-stopped): /backup is exited",
                "portainer-log (portainer-container-stopped): /backup",
            ]),
        Preset(
            file: "nomad", source: "nomad-jobs",
            polls: ["nomad-jobs-1.json", "nomad-jobs-2.json", "nomad-jobs-3.json"],
            events: [
                "2 ~ web: state running → dead, stopped false → true", "2 ~ report: state pending → running",
                "2 ~ web: version 0 → 1", "3 ~ report: state running → dead",
            ],
            sent: [
                "nomad-bubble (nomad-job-dead): web: running → dead", "nomad-log (nomad-job-dead): web: running → dead",
                "nomad-bubble (nomad-job-stuck): report: still pending (suppressed: no longer so",
            ]),
        Preset(
            file: "nomad", source: "nomad-allocations",
            polls: ["nomad-allocations-1.json", "nomad-allocations-2.json", "nomad-allocations-3.json"],
            events: [
                "2 ~ web.main[0]: state running → failed", "2 + web.main[0]: pending",
                "3 ~ web.main[0]: desired run → stop", "3 ~ web.main[0]: state pending → running",
            ],
            sent: [
                "nomad-bubble (nomad-allocation-failed): web.main[0] failed",
                "nomad-log (nomad-allocation-failed): web.main[0]: running → failed",
            ]),
        Preset(
            file: "nomad", source: "nomad-nodes",
            polls: ["nomad-nodes-1.json", "nomad-nodes-2.json"],
            events: ["2 ~ n1: state ready → down", "2 ~ n2: eligible eligible → ineligible"],
            sent: [
                "nomad-bubble (nomad-node-down): n1: ready → down", "nomad-log (nomad-node-down): n1: ready → down",
            ]),
        Preset(
            file: "immich", source: "immich-queues",
            polls: ["immich-queues-1.json", "immich-queues-2.json"],
            events: ["2 ~ thumbnailGeneration: failed 0 → 2", "2 ~ smartSearch: state running → paused"],
            sent: [
                "immich-bubble (immich-jobs-fail): thumbnailGeneration: 2 jobs failed", "immich-log (immich-jobs-fail)",
            ]),
        Preset(
            file: "immich", source: "immich-storage",
            polls: ["immich-storage-1.json", "immich-storage-2.json"],
            events: ["2 ~ immich-storage: used 89.93 → 90.41"],
            sent: ["immich-bubble (immich-disk-full): The disk of Immich is 90.41 % full"]),
        Preset(
            file: "immich", source: "immich-release",
            polls: ["immich-release-1.json", "immich-release-2.json"],
            events: ["2 ~ immich-release: latest v2.3.1 → v2.4.0"],
            sent: ["immich-bubble (immich-new-release): Immich v2.4.0 is there"]),
        Preset(
            file: "nextcloud", source: "nextcloud-notifications",
            polls: [
                "nextcloud-notifications-1.json", "nextcloud-notifications-2.json", "nextcloud-notifications-3.json",
                "nextcloud-notifications-3.json",
            ],
            events: [
                "2 + Update for Calendar to 6.0.2 is available: ",
                "4 - Update for Calendar to 6.0.2 is available: ", "4 - Ben shared Plans with you: ",
            ],
            sent: ["nextcloud-bubble (nextcloud-notified): Update for Calendar to 6.0.2 is available"]),
        Preset(
            file: "nextcloud", source: "nextcloud-status",
            polls: ["nextcloud-status-1.json", "nextcloud-status-2.json", "nextcloud-status-3.json"],
            events: [
                "2 ~ nextcloud-status: needs_upgrade false → true, state running → in maintenance",
                "3 ~ nextcloud-status: needs_upgrade true → false, state in maintenance → running, version 32.0.1 → 32.0.2",
            ],
            sent: [
                "nextcloud-log (nextcloud-upgraded)",
                "nextcloud-bubble (nextcloud-maintenance): nextcloud-status: running → in maintenance (suppressed: no longer so",
                "nextcloud-log (nextcloud-maintenance): nextcloud-status: running → in maintenance (suppressed: no longer so",
            ]),
        Preset(
            file: "nextcloud", source: "nextcloud-server",
            polls: ["nextcloud-server-1.json", "nextcloud-server-2.json"],
            events: ["2 ~ nextcloud-server: app_updates 0 → 1, free 20000000000 → 9000000000"],
            sent: [
                "nextcloud-bubble (nextcloud-app-updates): Apps of Nextcloud with updates: 1",
                "nextcloud-bubble (nextcloud-disk-full)", "nextcloud-log (nextcloud-disk-full)",
            ]),
    ]
}
