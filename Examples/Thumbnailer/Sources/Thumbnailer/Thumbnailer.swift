import Foundation
import HLSKitCore

/// Writes previews of a stream to a folder, at equal distances over its duration.
@main struct Thumbnailer {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 2, let count = Int(arguments.dropFirst(2).first ?? "10"), count > 0 else {
            print("usage: Thumbnailer URL FOLDER [COUNT]")
            exit(64)
        }
        do {
            let folder = URL(fileURLWithPath: arguments[arguments.startIndex + 1])
            for line in try await previews(of: arguments[arguments.startIndex], count: count, in: folder) {
                print(line)
            }
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Writes `count` JPEG files with a width of at most 320 pixels, and returns a line about each.
    static func previews(of url: String, count: Int, in folder: URL) async throws -> [String] {
        let generator = ImageGenerator(asset: Asset(urlString: url))
        generator.maximumSize = PixelSize(width: 320, height: 0)
        let duration = try await generator.loadTimeRange().duration
        guard duration.isNumeric else { return ["it is not known how long the stream is"] }

        // The middle of each part, because the very start is often black.
        let plan = StoryboardPlan(count: count, duration: duration)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var lines: [String] = []
        for await result in generator.images(for: plan.times) {
            switch result {
            case .succeeded(let requested, let actual, let image):
                let name = "\(Int(requested.seconds.rounded())).jpg"
                try Data(image.encoded(as: .jpeg())).write(to: folder.appendingPathComponent(name))
                lines.append("\(name): \(image.width)x\(image.height), the picture of \(actual.seconds) s")
            case .failed(let requested, let error): lines.append("\(requested.seconds) s: \(error)")
            case .cancelled: break
            }
        }
        return lines
    }
}
