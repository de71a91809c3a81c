import FoundationEssentials
import Glibc
package import HLSKitCore
import HLSKitLoading

/// The throughput of servers, kept in a file between runs, so that playback begins with the variant that the link carries.
///
/// Each network (the default route) has its own file. Servers on this machine are not remembered.
package struct LinkMemory: Sendable {
    private static let maximumByteCount = 1 << 20

    private let path: String

    /// - Parameters:
    ///   - environment: The variables that name the folder of caches.
    ///   - routes: The text of `/proc/net/route`.
    package init?(environment: [String: String], routes: String) {
        let folder: String
        if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") {
            folder = base
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            folder = home + "/.cache"
        } else {
            return nil
        }
        guard let network = Self.network(routes) else { return nil }
        path = "\(folder)/hlsget/links/\(network).json"
    }

    /// The memory of this machine and user, or `nil` if there is no default route or no folder.
    package static var ofThisMachine: LinkMemory? {
        let routes = (try? FileBytes.read("/proc/net/route", atMost: 1 << 16)) ?? []
        return LinkMemory(
            environment: ProcessInfo.processInfo.environment, routes: String(decoding: routes, as: UTF8.self))
    }

    /// The interface and gateway of the default route with the smallest metric.
    private static func network(_ routes: String) -> String? {
        let rows = routes.split(separator: "\n").dropFirst().map { $0.split(whereSeparator: \.isWhitespace) }
        let defaults = rows.filter { $0.count > 6 && $0[1] == "00000000" && !$0[0].contains("/") }
        return defaults.min { (Int($0[6]) ?? .max) < (Int($1[6]) ?? .max) }.map { "\($0[0])-\($0[2])" }
    }

    package static func isRemote(_ url: String) -> Bool {
        guard let origin = URLOrigin(of: url), ["http", "https"].contains(origin.scheme) else { return false }
        let host = origin.host.lowercased()
        return host != "localhost" && !host.hasPrefix("127.") && host != "[::1]" && host != "::1"
    }

    /// The throughput that earlier runs have measured. A damaged file counts as empty.
    package var history: BandwidthHistory { BandwidthHistory(estimates ?? BandwidthEstimates()) }

    private var estimates: BandwidthEstimates? {
        guard let bytes = try? FileBytes.read(path, atMost: Self.maximumByteCount) else { return nil }
        return try? JSONDecoder().decode(BandwidthEstimates.self, from: Data(bytes))
    }

    /// Keeps a run's history. A file that cannot be written is not an error of playback.
    package func keep(_ history: BandwidthHistory) {
        let estimates = history.estimates
        guard estimates != self.estimates, let data = try? JSONEncoder().encode(estimates) else { return }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let part = path + ".\(getpid())"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten = (try? FileBytes.write(Array(data), to: descriptor)) != nil
        close(descriptor)
        if !isWritten || rename(part, path) != 0 { unlink(part) }
    }
}
