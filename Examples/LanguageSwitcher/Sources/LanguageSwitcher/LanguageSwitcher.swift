import Foundation
import HLSKitCore

/// Plays a stream in each of its languages in turn. A change of language affects neither the status nor the timebase.
@main struct LanguageSwitcher {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let url = arguments.first, let seconds = Int(arguments.dropFirst().first ?? "5"), seconds > 0 else {
            print("usage: LanguageSwitcher URL [SECONDS]")
            exit(64)
        }
        do {
            try await play(Asset(urlString: url), in: Player(), secondsEach: seconds) { print($0) }
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Plays `seconds` of each language. `report` receives a line for each language and one at the end.
    nonisolated(nonsending) static func play(
        _ asset: Asset, in player: Player, secondsEach seconds: Int, report: (String) -> Void
    ) async throws {
        guard let group = try await asset.loadMediaSelectionGroup(for: .audible) else {
            return report("there is no language to choose")
        }
        let languages = group.options.filter(\.isPlayable)
        let item = PlayerItem(asset: asset)
        try item.add(AudioOutput())
        item.forwardPlaybackEndTime = .seconds(seconds * languages.count)

        let times = try player.times(every: .seconds(seconds))
        player.play()
        try player.replaceCurrentItem(with: item)
        // If the item fails, closing the player ends the wait for its time.
        let watcher = Task {
            for await status in item.values(of: \.status) where status == .failed { await player.close() }
        }
        defer { watcher.cancel() }
        var next = 0
        for await time in times {
            if time.seconds >= Double(seconds * languages.count) { break }
            guard next < languages.count, player.timeControlStatus == .playing, time.seconds >= Double(seconds * next)
            else { continue }
            item.select(languages[next], in: group)
            report("\(seconds * next) s: \(languages[next].displayName), \(player.timeControlStatus)")
            next += 1
        }
        if let error = item.error { throw error }
        report("\(item.accessLog?.events.reduce(0) { $0 + max(0, $1.numberOfStalls) } ?? 0) stalls")
        await player.close()
    }
}
