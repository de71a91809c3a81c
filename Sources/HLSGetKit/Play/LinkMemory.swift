import FoundationEssentials
import Glibc
package import HLSKitLoading

/// The throughput that this machine had to servers, kept in a file between runs, so that playback begins with the variant that
/// the link carries.
///
/// An entry belongs to a network (the default route) and a host, and holds for a day. Links to this machine itself have none.
package struct LinkMemory: Sendable {
    private struct Entry: Equatable {
        var time: Int
        var bitsPerSecond: Int
        var network: String
        var host: String

        init(time: Int, bitsPerSecond: Int, network: String, host: String) {
            (self.time, self.bitsPerSecond, self.network, self.host) = (time, bitsPerSecond, network, host)
        }

        /// `TIME BITS NETWORK HOST`, or `nil` for any other line.
        init?(line: some StringProtocol) {
            let parts = line.split(separator: " ")
            guard parts.count == 4, let time = Int(parts[0]), let rate = Int(parts[1]), rate > 0 else { return nil }
            self.init(time: time, bitsPerSecond: rate, network: String(parts[2]), host: String(parts[3]))
        }

        var line: String { "\(time) \(bitsPerSecond) \(network) \(host)\n" }
    }

    /// Seconds for which an entry holds.
    private static let validity = 86_400
    private static let maximumCount = 256
    private static let maximumByteCount = 1 << 16

    private let path: String
    private let network: String
    private let now: Int

    /// - Parameters:
    ///   - environment: The variables that name the folder of caches.
    ///   - routes: The text of `/proc/net/route`.
    ///   - now: Seconds since 1970.
    package init?(environment: [String: String], routes: String, now: Int) {
        let folder: String
        if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") {
            folder = base
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            folder = home + "/.cache"
        } else {
            return nil
        }
        guard let network = Self.network(routes) else { return nil }
        path = folder + "/hlsget/links"
        self.network = network
        self.now = now
    }

    /// The memory of this machine and user, or `nil` if there is no default route or no folder.
    package static var ofThisMachine: LinkMemory? {
        let routes = (try? FileBytes.read("/proc/net/route", atMost: maximumByteCount)) ?? []
        return LinkMemory(
            environment: ProcessInfo.processInfo.environment, routes: String(decoding: routes, as: UTF8.self),
            now: time(nil))
    }

    /// The interface and gateway of the default route with the smallest metric.
    private static func network(_ routes: String) -> String? {
        let rows = routes.split(separator: "\n").dropFirst().map { $0.split(whereSeparator: \.isWhitespace) }
        let defaults = rows.filter { $0.count > 6 && $0[1] == "00000000" }
        return defaults.min { (Int($0[6]) ?? .max) < (Int($1[6]) ?? .max) }.map { "\($0[0])/\($0[2])" }
    }

    /// The host and port of a URL, or `nil` for a file and for this machine.
    private static func host(of url: String) -> String? {
        guard let origin = URLOrigin(of: url), ["http", "https"].contains(origin.scheme) else { return nil }
        let host = origin.host.lowercased()
        let isThisMachine = host == "localhost" || host.hasPrefix("127.") || host == "[::1]" || host == "::1"
        guard !isThisMachine, !host.contains(where: \.isWhitespace) else { return nil }
        return "\(host):\(origin.port)"
    }

    /// The throughput to the host of a URL in bits per second, or `nil` if it is unknown.
    package func bitsPerSecond(to url: String) -> Double? {
        guard let host = Self.host(of: url) else { return nil }
        let entry = entries.last { $0.network == network && $0.host == host }
        guard let entry, (0...Self.validity).contains(now - entry.time) else { return nil }
        return Double(entry.bitsPerSecond)
    }

    /// Keeps the throughput to the host of a URL. A file that cannot be written is no failure of playback.
    package func keep(_ bitsPerSecond: Double, to url: String) {
        guard let host = Self.host(of: url), let rate = Int(exactly: bitsPerSecond.rounded()), rate > 0 else { return }
        var entries = entries.filter { entry in
            (0...Self.validity).contains(now - entry.time) && !(entry.network == network && entry.host == host)
        }
        entries.append(Entry(time: now, bitsPerSecond: rate, network: network, host: host))
        let text = entries.suffix(Self.maximumCount).map(\.line).joined()
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let part = path + ".\(getpid())"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        let isWritten = (try? FileBytes.write(text, to: descriptor)) != nil
        close(descriptor)
        if !isWritten || rename(part, path) != 0 { unlink(part) }
    }

    private var entries: [Entry] {
        guard let bytes = try? FileBytes.read(path, atMost: Self.maximumByteCount) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap(Entry.init(line:))
    }
}
