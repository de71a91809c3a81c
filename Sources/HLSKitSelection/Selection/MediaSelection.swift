/// The selected option of each media selection group.
public struct MediaSelection: Sendable, Hashable {
    private var options: [MediaCharacteristic: MediaSelectionOption] = [:]

    /// Creates a selection without options.
    public init() {}

    /// Returns the selected option of a group, or `nil` if none is selected.
    public func selectedMediaOption(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        self[group.characteristic]
    }

    /// The selected option of the group with a characteristic: `audible`, `legible` or `visual`.
    public package(set) subscript(characteristic: MediaCharacteristic) -> MediaSelectionOption? {
        get { options[characteristic] }
        set { options[characteristic] = newValue }
    }
}
