// SPDX-License-Identifier: Apache-2.0

extension Assets {
    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5cad"/>\
        <path d="M7 9l9 15 9-15" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/></svg>

        """
}
