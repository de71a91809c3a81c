import HLSGetKit
import HLSKitCore
import Synchronization

/// Images for the bar of a window, from I-frame playlists if the stream has them.
///
/// Creates one image at a time, for the latest pointer position, and caches the results.
final class ThumbnailSource: Sendable {
    static let size = PixelSize(width: 208, height: 156)
    private static let maximumCount = 120
    private static let placeCount = 240.0

    private struct State {
        var images: [Int: StillImage] = [:]
        /// The keys of ``images``, the oldest first.
        var order: [Int] = []
        var wanted: Place?
    }

    struct Place: Sendable, Equatable {
        var number: Int
        /// The middle of the section, in item time.
        var time: Double

        init(_ time: Double, of timeline: Range<Double>) {
            let length = max(2, (timeline.upperBound - timeline.lowerBound) / ThumbnailSource.placeCount)
            let quotient = (time / length).rounded(.down)
            let number = quotient.isNaN ? 0 : max(-1e9, min(quotient, 1e9))
            self.number = Int(number)
            self.time = (number + 0.5) * length
        }
    }

    private let generator: ImageGenerator
    private let state = Mutex(State())
    private let (requests, request) = AsyncStream.makeStream(of: Place.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - edge: Returns the item time of the live edge, or `nil` for VOD. The generator of a live stream has another
    ///     zero.
    init(_ asset: Asset, edge: @escaping @Sendable () -> Double?) {
        generator = ImageGenerator(asset: asset)
        generator.maximumSize = Self.size
        generator.appliesPreferredTrackTransform = true
        let (requests, generator) = (requests, generator)
        Task.detached { [weak self] in
            var shift: Double?
            for await place in requests {
                if shift == nil { shift = await Self.shift(generator, edge: edge()) }
                let time = MediaTime(seconds: place.time + (shift ?? 0), preferredTimescale: 90_000)
                guard let image = try? await generator.image(at: max(.zero, time)).image else { continue }
                self?.keep(image, at: place)
            }
        }
    }

    /// The offset from item time to the generator's time, which starts at the first playlist that the generator loads.
    private static func shift(_ generator: ImageGenerator, edge: Double?) async -> Double? {
        guard let edge else { return 0 }
        guard let end = try? await generator.loadTimeRange().end.finiteSeconds else { return nil }
        return end - edge
    }

    func close() {
        request.finish()
        generator.cancelAllImageGeneration()
    }

    /// Returns the image of a time, or requests it and returns `nil`.
    func image(at time: Double, of timeline: Range<Double>) -> (number: Int, image: StillImage)? {
        let place = Place(time, of: timeline)
        let (image, isNew) = state.withLock { state -> (StillImage?, Bool) in
            if let image = state.images[place.number] { return (image, false) }
            defer { state.wanted = place }
            return (nil, state.wanted != place)
        }
        if isNew { request.yield(place) }
        return image.map { (place.number, $0) }
    }

    private func keep(_ image: StillImage, at place: Place) {
        state.withLock { state in
            if state.images.updateValue(image, forKey: place.number) == nil { state.order.append(place.number) }
            if state.order.count > Self.maximumCount { state.images[state.order.removeFirst()] = nil }
        }
    }
}
