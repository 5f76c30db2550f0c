// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteSystem

@Suite("The table of mounted file systems")
struct MountTableTests {
    private let table = """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        40 22 0:35 / /home rw shared:9 - nfs4 server:/home rw
        41 40 0:36 / /home/a\\040b rw - tmpfs tmpfs rw
        42 22 0:40 / /mnt/share rw - cifs //server/share rw
        43 22 0:41 / /mnt/host rw - 9p host rw
        44 22 0:42 / /mnt/ssh\\134\\011x rw - fuse.sshfs me@server:/ rw
        45 22 0:43 / /mnt/stick rw - fuseblk /dev/sdb1 rw
        46 22 0:44 / /mnt/join rw - fuse.mergerfs a:b rw
        47 42 0:45 / /mnt/share/local rw - ext4 /dev/sdc1 rw
        48 22 0:46 / /srv rw - nfs server:/srv rw
        49 22 0:47 / /srv rw - xfs /dev/sdd1 rw
        broken
        """

    @Test("network file systems are known by their type; the local one here is not refused")
    func network() {
        func network(_ path: String) -> String? { MountTable.network(of: path, in: table) }
        #expect(network("/home/x/state") == "nfs4" && network("/home") == "nfs4")
        #expect(network("/mnt/share/state") == "cifs" && network("/mnt/host") == "9p")
        #expect(network("/mnt/ssh\\\tx/state") == "fuse.sshfs")
        for local in ["/etc", "/", "/homer", "/home/a b/c", "/mnt/stick/x", "/mnt/join", "/mnt/share/local/x"] {
            #expect(network(local) == nil, "\(local)")
        }
        #expect(network("/srv/state") == nil, "the last mount covers the ones before")
        #expect(MountTable.network(of: "/home", in: "") == nil)
        #expect(MountTable.network(at: NSTemporaryDirectory()) == nil && MountTable.network(at: "/none/such") == nil)
    }
}
