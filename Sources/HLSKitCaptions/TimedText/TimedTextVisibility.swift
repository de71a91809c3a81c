import HLSKitTime

/// The visibility of an element: its own properties, its `set` elements, and the elements around it.
///
/// Source: TTML1 §8.2.7 (`tts:display`), §8.2.23 (`tts:visibility`), §11.1.1 (`set`), §9.3.3 (regions that are active
/// for a time).
struct TimedTextVisibility: Sendable, Hashable {
    struct Change: Sendable, Hashable {
        var start: MediaTime
        /// nil: until the end.
        var end: MediaTime?
        var isHidden: Bool
    }

    private struct Layer: Sendable, Hashable {
        var isHidden: Bool
        var changes: [Change] = []

        func isHidden(at time: MediaTime) -> Bool {
            changes.last { $0.start <= time && $0.end.map { time < $0 } ?? true }?.isHidden ?? isHidden
        }
    }

    /// The largest number of changes, and of hiding elements, among an element and those around it. Further ones are
    /// ignored.
    private static let maxCount = 16

    /// `tts:display` of this element and those around it. An undisplayed element hides all its contents.
    private var displays: [Layer] = []
    /// The element whose display is the last of ``displays``.
    private var displayDepth: Int?
    /// `tts:visibility`, inherited until another element sets it.
    private var visibility = Layer(isHidden: false)
    private var changeCount = 0

    mutating func apply(_ properties: TimedTextProperties, depth: Int) {
        if properties["display"] == "none" {
            add(Layer(isHidden: true))
            displayDepth = depth
        }
        if let value = properties["visibility"] {
            visibility = Layer(isHidden: value == "hidden")
        }
    }

    mutating func set(_ properties: TimedTextProperties, from start: MediaTime, to end: MediaTime?, depth: Int) {
        if let value = properties["display"] {
            if displayDepth != depth {
                guard displays.count < Self.maxCount else { return }
                add(Layer(isHidden: false))
                displayDepth = depth
            }
            guard changeCount < Self.maxCount, let last = displays.indices.last else { return }
            changeCount += 1
            displays[last].changes.append(Change(start: start, end: end, isHidden: value == "none"))
        }
        if let value = properties["visibility"], changeCount < Self.maxCount {
            changeCount += 1
            visibility.changes.append(Change(start: start, end: end, isHidden: value == "hidden"))
        }
    }

    private mutating func add(_ layer: Layer) {
        if displays.count < Self.maxCount { displays.append(layer) }
    }

    mutating func limit(to start: MediaTime, _ end: MediaTime?) {
        add(Layer(isHidden: true, changes: [Change(start: start, end: end, isHidden: false)]))
        displayDepth = nil
    }

    mutating func add(_ region: TimedTextVisibility) {
        for layer in region.displays { add(layer) }
        displayDepth = nil
        if region.visibility != Layer(isHidden: false) { visibility = region.visibility }
    }

    func isHidden(at time: MediaTime) -> Bool {
        displays.contains { $0.isHidden(at: time) } || visibility.isHidden(at: time)
    }

    var changeTimes: [MediaTime] {
        (displays + [visibility]).flatMap { layer in layer.changes.flatMap { [$0.start] + ($0.end.map { [$0] } ?? []) }
        }
    }
}
