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

    /// Plays `count` frames in real time. `report` receives a line for each frame.
    nonisolated(nonsending) static func play(_ url: String, count: Int, report: (String) -> Void) async throws {
        let item = PlayerItem(urlString: url)
        // The size at which the frames are shown. The player loads no larger variant.
        let output = VideoOutput(displaySize: PixelSize(width: 320, height: 180), pixelFormat: .bgra)
        try item.add(output)
        let frames = output.frames()

        let player = Player()
        player.play()
        try player.replaceCurrentItem(with: item)
        // If the item fails, closing the player ends the wait for frames.
        let watcher = Task {
            for await status in item.values(of: \.status) where status == .failed { await player.close() }
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
