import HLSGetKit
import HLSKitCore
import Synchronization

/// Images for the bar of a window: of I-frames, where a stream has them.
///
/// One at a time is made, of the place that was pointed at last; those that were made are kept.
final class ThumbnailSource: Sendable {
    /// The size into which images are made to fit.
    static let size = PixelSize(width: 208, height: 156)
    private static let maximumCount = 120
    /// Places of the timeline that are told apart, at most.
    private static let placeCount = 240.0

    private struct State {
        var images: [Int: StillImage] = [:]
        /// The places of ``images``, the oldest first.
        var order: [Int] = []
        var wanted: Place?
    }

    /// A piece of the timeline.
    struct Place: Sendable, Equatable {
        var number: Int
        /// In the middle of it, in item time.
        var time: Double

        /// The piece that a time is in.
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
    ///   - asset: of which the images are.
    ///   - edge: the item time of the live edge, for streams that have one: times of images are counted otherwise there.
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

    /// What is added to an item time for the generator, which counts from the start of the first playlist that it loads.
    private static func shift(_ generator: ImageGenerator, edge: Double?) async -> Double? {
        guard let edge else { return 0 }
        guard let end = try? await generator.loadTimeRange().end.finiteSeconds else { return nil }
        return end - edge
    }

    func close() {
        request.finish()
        generator.cancelAllImageGeneration()
    }

    /// The image of a time, where it is there; else it is made next.
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
