import Foundation
import HLSKitCore

/// Plays streams without decoding anything, says in a line what happens to them, and brings those back that fail.
@main struct Monitor {
    static func main() async {
        let urls = Array(CommandLine.arguments.dropFirst())
        guard !urls.isEmpty else {
            print("usage: Monitor URL…")
            exit(64)
        }
        await withTaskGroup(of: Void.self) { group in
            for (number, url) in urls.enumerated() {
                group.addTask { await StreamWatch(url: url).run { print("\(number): \($0)") } }
            }
        }
    }
}

/// Watches one stream, until it was played to its end or the task is cancelled.
struct StreamWatch: Sendable {
    var url: String
    var configuration = PlayerConfiguration()
    var comeback = RestartSchedule()

    nonisolated(nonsending) func run(report: (String) -> Void) async {
        let player = Player(configuration: configuration)
        var comeback = comeback
        // Where the item was that failed; nil for a live stream, which is played from its edge.
        var place: MediaTime?
        while !Task.isCancelled {
            // An item that has failed stays failed: another one takes its place.
            let item = PlayerItem(urlString: url)
            let events = item.events()
            do {
                try player.replaceCurrentItem(with: item)
                // The failure has set the rate to 0.
                player.play()
                if let place { _ = try await player.seek(to: place) }
            } catch {
                report("\(error)")
                break
            }
            guard let error = await Self.failure(of: item, events, report: report) else { break }
            let state = item.latestState
            if state.duration.isNumeric { place = state.currentTime }
            let delay = comeback.delay(after: error, played: state.statistics.durationWatched)
            report("failed\(error.isPermanent ? " until somebody mends it" : ""): \(error); again in \(delay)")
            do { try await configuration.sourceClock.sleep(for: delay) } catch { break }
        }
        await player.close()
    }

    /// Why the item failed; nil if it was played to its end, or the task is cancelled.
    private nonisolated(nonsending) static func failure(
        of item: PlayerItem, _ events: AsyncStream<PlayerEvent>, report: (String) -> Void
    ) async -> HLSError? {
        for await event in events {
            switch event.kind {
            case .didPlayToEnd:
                report("\(event)")
                return nil
            case .itemStatusChanged(.failed): return item.error
            case .itemStatusChanged, .playbackStalled, .segmentSkipped, .recoverableError, .warning: report("\(event)")
            default: break
            }
        }
        return nil
    }
}
