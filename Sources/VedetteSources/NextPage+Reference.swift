// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension NextPage {
    /// - Throws: `.shape` for a reference that is not an address: taking this page for the last one would lose the rest.
    init(_ reference: String, from base: WebURL) throws(ReadError) {
        guard let url = base.resolving(reference) else {
            throw ReadError(.shape, "the next page's address is not valid; check 'next'")
        }
        self.init(url.text)
    }
}
