import Foundation
import HLSKitCore

/// Plays the beginning of a stream and prints the time and size of each frame.
@main struct PlayToFrames {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let url = arguments.first, let count = Int(arguments.dropFirst().first ?? "100"), count > 0 else {
            print("usage: PlayToFrames URL [COUNT]")
            exit(64)
        }
        do {
            try await play(url, count: count) { print($0) }
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Plays at most `count` frames. With pacing, a slow machine loses some. `report` receives a line for each frame.
    nonisolated(nonsending) static func play(
        _ url: String, count: Int, pacing: PlayerConfiguration.Pacing = .realTime, report: (String) -> Void
    ) async throws {
        let item = PlayerItem(urlString: url)
        // The size at which the frames are shown. The player loads no larger variant.
        let output = VideoOutput(displaySize: PixelSize(width: 320, height: 180), pixelFormat: .bgra)
        try item.add(output)
        let frames = output.frames()

        var configuration = PlayerConfiguration()
        configuration.pacing = pacing
        let player = Player(configuration: configuration)
        player.play()
        try player.replaceCurrentItem(with: item)
        // When the item has ended or failed, closing the player ends the wait for frames.
        let events = player.events()
        let watcher = Task {
            for await event in events {
                switch event.kind {
                case .didPlayToEnd, .itemStatusChanged(.failed): await player.close()
                default: break
                }
            }
        }
        defer { watcher.cancel() }
        var rest = count
        for await frame in frames {
            let milliseconds = Int(((frame.itemTime?.seconds ?? 0) * 1000).rounded())
            report("\(milliseconds) ms: \(frame.width)x\(frame.height), \(frame.colorTags.colorPrimaries)")
            rest -= 1
            if rest == 0 { break }
        }
        await player.close()
        if let error = item.error { throw error }
    }
}
