import Foundation
import HLSKitCore

/// Draws the position of the camera onto the frames of a stream. The position is the text `GPS` (`TXXX`) in the
/// stream's timed ID3 metadata.
@main struct GPSOverlay {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, let count = Int(arguments.dropFirst(2).first ?? "100"), count > 0 else {
            print("usage: GPSOverlay URL FOLDER [COUNT]")
            exit(64)
        }
        do {
            try await play(arguments[0], count: count, folder: URL(fileURLWithPath: arguments[1])) { print($0) }
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Plays at most `count` frames and writes each as a PNG file. With pacing, a slow machine loses some. `report`
    /// receives a line for each.
    nonisolated(nonsending) static func play(
        _ url: String, count: Int, folder: URL, pacing: PlayerConfiguration.Pacing = .realTime,
        report: (String) -> Void
    ) async throws {
        let item = PlayerItem(urlString: url)
        // The composition names all metadata that it may use. Each instruction names the metadata for its time.
        let tracks = try await Asset(urlString: url).loadTracks(withMediaType: .metadata)
        var ids = [TimedMetadataGroup.eventMessageTrackID]
        for track in tracks { ids += try await track.load(.formatDescriptions).map(\.id) }
        let composition = FrameComposition(
            sourceSampleDataTrackIDs: ids, instructions: [.init(requiredSourceSampleDataTrackIDs: ids)]
        ) { request in
            guard let place = await Self.place(in: request) else { return request.sourceFrame }
            var image = try StillImage(request.sourceFrame)
            Lettering.draw(place, onto: &image)
            return try VideoFrame(image, inPlaceOf: request.sourceFrame)
        }
        let output = CompositionOutput(composition)
        try item.add(output)
        let frames = output.frames()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

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
        var number = 0
        for await frame in frames {
            let name = "\(number).png"
            try Data(StillImage(frame).encoded(as: .png)).write(to: folder.appendingPathComponent(name))
            report("\(name): \(Int(((frame.itemTime?.seconds ?? 0) * 1000).rounded())) ms")
            number += 1
            if number == count { break }
        }
        await player.close()
        if let error = item.error { throw error }
    }

    private static func place(in request: FrameCompositionRequest) async -> String? {
        for id in request.sourceSampleDataTrackIDs {
            let items = request.sourceTimedMetadata(byTrackID: id)?.items ?? []
            for item in MetadataItem.metadataItems(from: items, filteredByIdentifier: "org.id3/TXXX:GPS") {
                if let text = try? await item.load(.stringValue) { return text }
            }
        }
        return nil
    }
}
