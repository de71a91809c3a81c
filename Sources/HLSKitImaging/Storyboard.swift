public import HLSKitLoading

/// The images of a video side by side in one, and which of them is for which time: previews for a scrubbing bar.
///
/// ``ImageGenerator/storyboard(_:columnCount:)`` makes it.
public struct Storyboard: Sendable {
    /// The times that were asked for.
    public let plan: StoryboardPlan
    /// One for each of the plan's times, in their order. Where an image failed its tile is black.
    public let results: [ImageGenerationResult]
    /// The images that there are.
    public let sheet: ContactSheet

    /// The WebVTT file that belongs to the sheet: see ``ContactSheet/webVTT(timeRanges:imageURI:)``.
    public func webVTT(imageURI: String) -> String {
        sheet.webVTT(timeRanges: plan.timeRanges, imageURI: imageURI)
    }
}

extension ImageGenerator {
    /// Makes the images of a plan and puts them into one.
    ///
    /// ```swift
    /// generator.maximumSize = PixelSize(width: 160, height: 0)
    /// let duration = try await generator.loadTimeRange().duration
    /// let storyboard = try await generator.storyboard(StoryboardPlan(count: 100, duration: duration))
    /// let jpeg = try storyboard.sheet.image.encoded(as: .jpeg())
    /// let webVTT = storyboard.webVTT(imageURI: "sheet.jpg")
    /// ```
    ///
    /// Costs what ``images(for:)`` costs, and all images in memory at once, twice.
    /// - Parameters:
    ///   - plan: the times.
    ///   - columnCount: images in a row; nil (the default) makes about as many columns as rows.
    /// - Throws: ``HLSError`` of the first image where none could be made; one with the code `invalidArgument` where
    ///   the plan is empty or the sheet would be too large; with ``HLSError/Code/cancelled`` where the task was cancelled.
    public func storyboard(_ plan: StoryboardPlan, columnCount: Int? = nil) async throws(HLSError) -> Storyboard {
        var results: [ImageGenerationResult] = []
        for await result in images(for: plan.times) { results.append(result) }
        let images = results.map(\.image)
        if images.allSatisfy({ $0 == nil }) {
            for result in results {
                if case .failed(_, let error) = result { throw error }
            }
            if !results.isEmpty { throw HLSError(CancellationError()) }
        }
        if Task.isCancelled { throw HLSError(CancellationError()) }
        return Storyboard(
            plan: plan, results: results, sheet: try ContactSheet(of: images, columnCount: columnCount))
    }
}
