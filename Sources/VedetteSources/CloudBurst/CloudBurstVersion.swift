// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A product with this API, and the header in which it expects the API's version.
enum CloudBurstVersion: String, CaseIterable, Sendable {
    case cloudburst
    case workloadDeployer = "workload-deployer"
    case pureSystem = "pure-system"

    private var header: String {
        switch self {
        case .cloudburst: "X-CloudBurst-API-Version"
        case .workloadDeployer: "X-IBM-Workload-Deployer-API-Version"
        case .pureSystem: "X-IBM-PureSystem-API-Version"
        }
    }

    private var standard: String {
        switch self {
        case .cloudburst: "1.0"
        case .workloadDeployer: "3.0"
        case .pureSystem: "2.0"
        }
    }

    /// Returns the version header; nil when neither the product nor a version is configured, since the first appliances need
    /// none.
    static func header(_ options: Options) throws(OptionProblem) -> Header? {
        let flavour = options.text("flavour").flatMap(CloudBurstVersion.init(rawValue:))
        guard let version = options.text("api_version") else { return flavour.map { Header($0.header, $0.standard) } }
        guard !version.isEmpty, version.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
            throw OptionProblem("api_version", detail: "'\(version)' is no version; write it as in 3.0 or 5.0.0.1")
        }
        return Header((flavour ?? .cloudburst).header, version)
    }
}
