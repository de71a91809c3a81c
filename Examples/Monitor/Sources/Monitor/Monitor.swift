import Foundation
import HLSKitCore

/// Plays streams without decoding them, prints a line for each event, and restarts streams that fail.
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

/// Watches one stream until it ends or the task is cancelled.
struct StreamWatch: Sendable {
    var url: String
    var configuration = PlayerConfiguration()
    var comeback = RestartSchedule()

    nonisolated(nonsending) func run(report: (String) -> Void) async {
        let player = Player(configuration: configuration)
        var comeback = comeback
        // The position at which the item failed, or `nil` for a live stream, which restarts at its edge.
        var place: MediaTime?
        while !Task.isCancelled {
            // A failed item cannot recover, so a new item replaces it.
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

    /// Returns the item's error, or `nil` if the item has played to its end or the task is cancelled.
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
