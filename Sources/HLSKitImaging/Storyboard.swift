public import HLSKitLoading

/// Images of a video in one sheet, with their times, for the previews of a scrubbing bar.
///
/// ``ImageGenerator/storyboard(_:columnCount:)`` creates it.
public struct Storyboard: Sendable {
    /// The plan with the requested times.
    public let plan: StoryboardPlan
    /// One result for each of the plan's times, in order.
    ///
    /// The tile of a failed image is black.
    public let results: [ImageGenerationResult]
    /// The sheet with the successful images.
    public let sheet: ContactSheet

    /// Returns the WebVTT file for the sheet; see ``ContactSheet/webVTT(timeRanges:imageURI:)``.
    public func webVTT(imageURI: String) -> String {
        sheet.webVTT(timeRanges: plan.timeRanges, imageURI: imageURI)
    }
}

extension ImageGenerator {
    /// Creates the images of a plan and combines them into one sheet.
    ///
    /// ```swift
    /// generator.maximumSize = PixelSize(width: 160, height: 0)
    /// let duration = try await generator.loadTimeRange().duration
    /// let storyboard = try await generator.storyboard(StoryboardPlan(count: 100, duration: duration))
    /// let jpeg = try storyboard.sheet.image.encoded(as: .jpeg())
    /// let webVTT = storyboard.webVTT(imageURI: "sheet.jpg")
    /// ```
    ///
    /// This method costs as much as ``images(for:)``, and holds all images in memory twice.
    /// - Parameters:
    ///   - plan: The times of the images.
    ///   - columnCount: The number of images in a row. The default, `nil`, creates about as many columns as rows.
    /// - Throws: The ``HLSError`` of the first image if all images fail. The code is `invalidArgument` if the plan is
    ///   empty or the sheet would be too large, and ``HLSError/Code/cancelled`` if the task is cancelled.
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
