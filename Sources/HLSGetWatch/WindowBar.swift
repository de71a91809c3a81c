import HLSGetKit
import HLSKitCore

/// The timeline bar of a window, as single-colour rectangles from bottom to top.
struct WindowBar: Sendable, Equatable {
    enum Color: Sendable, Equatable { case ground, loaded, played, playhead, pointer, frame }

    struct Part: Sendable, Equatable {
        var rect: WindowRect
        var color: Color
    }

    let parts: [Part]

    /// - Parameters:
    ///   - timeline: The range that the whole bar covers, in seconds.
    ///   - pointedX: The column of the pointer, or `nil` if it is elsewhere.
    init(_ player: PlayerState, timeline: Range<Double>, _ layout: WindowLayout, pointedX: Int?) {
        var parts = [Part(rect: layout.bar, color: .ground)]
        for range in player.loadedTimeRanges.compactMap({ StatusLine.bounds(of: $0) }) {
            if let rect = layout.barPart(range, of: timeline) { parts.append(Part(rect: rect, color: .loaded)) }
        }
        let now = min(
            max(player.currentTime.finiteSeconds ?? timeline.lowerBound, timeline.lowerBound), timeline.upperBound)
        let played = layout.barPart(timeline.lowerBound..<now, of: timeline)
        if let played { parts.append(Part(rect: played, color: .played)) }
        let bar = layout.bar
        func mark(atX x: Int, _ color: Color) {
            let left = min(max(x - 1, Int(bar.x)), Int(bar.x) + Int(bar.width) - 3)
            parts.append(
                Part(rect: WindowRect(x: left, y: Int(bar.y) - 3, width: 3, height: Int(bar.height) + 6), color: color))
        }
        mark(atX: Int(bar.x) + (played.map { Int($0.width) } ?? 0), .playhead)
        if let pointedX { mark(atX: pointedX, .pointer) }
        self.parts = parts
    }
}
