import Foundation
import HLSKitCore

struct Findings: Sendable {
    var reloadCount = 0
    /// The number of playlists that arrived more than one and a half target durations after the previous one.
    var lateCount = 0
    /// The longest time between two playlists, in seconds.
    var longestGap = 0.0
    var missedCount = 0
    var skippedCount = 0
    var stallCount = 0
    var errorCount = 0
    /// The times between consecutive playlists, in seconds.
    var gaps: [Double] = []

    /// How much later than usual playlists arrived. If the server updates its playlist at equal intervals, this
    /// combines the delays of the player, the server and the machine.
    var lateness: String {
        let sorted = gaps.sorted()
        guard let median = sorted.isEmpty ? nil : sorted[sorted.count / 2] else { return "no reloads" }
        func milliseconds(_ share: Double) -> Double {
            (sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] - median) * 1000
        }
        return String(
            format: "playlists every %.0f ms; later than that by %.1f ms (95 %%), %.1f ms (99 %%), %.1f ms (all)",
            median * 1000, milliseconds(0.95), milliseconds(0.99), milliseconds(1))
    }

    var text: String {
        String(format: "reloads: %d, %d of them late, longest gap %.2f s; ", reloadCount, lateCount, longestGap)
            + "missed segments \(missedCount), skipped \(skippedCount), stalls \(stallCount), errors \(errorCount)"
    }

    mutating func add(_ other: Findings) {
        reloadCount += other.reloadCount
        lateCount += other.lateCount
        longestGap = max(longestGap, other.longestGap)
        missedCount += other.missedCount
        skippedCount += other.skippedCount
        stallCount += other.stallCount
        errorCount += other.errorCount
        gaps += other.gaps
    }
}

final class WatchedPlayer: Sendable {
    /// One and a half target durations of the watched stream, in seconds.
    private static let latest = 3.0

    private let player: Player
    private let findings: Task<Findings, Never>

    init(_ url: String) throws {
        let player = Player(configuration: PlayerConfiguration())
        let events = player.events()
        self.player = player
        findings = Task {
            var findings = Findings()
            var last: Double?
            for await event in events {
                switch event.kind {
                case .playlistLoaded:
                    let time = event.hostTime.offset / .seconds(1)
                    if let last {
                        findings.reloadCount += 1
                        findings.gaps.append(time - last)
                        findings.longestGap = max(findings.longestGap, time - last)
                        if time - last > Self.latest { findings.lateCount += 1 }
                    }
                    last = time
                case .segmentsMissed: findings.missedCount += 1
                case .segmentSkipped: findings.skippedCount += 1
                case .playbackStalled: findings.stallCount += 1
                case .recoverableError: findings.errorCount += 1
                default: break
                }
            }
            return findings
        }
        player.play()
        try player.replaceCurrentItem(with: PlayerItem(urlString: url))
    }

    var bufferedByteCount: Int { player.state.statistics.bufferedByteCount }

    func close() async -> Findings {
        await player.close()
        return await findings.value
    }
}
