/// Which option of each group is selected.
public struct MediaSelection: Sendable, Hashable {
    private var options: [MediaCharacteristic: MediaSelectionOption] = [:]

    /// Makes a selection without options.
    public init() {}

    /// The selected option of the group; nil if none is.
    public func selectedMediaOption(in group: MediaSelectionGroup) -> MediaSelectionOption? {
        self[group.characteristic]
    }

    /// The selected option of the group of this characteristic: `audible`, `legible` or `visual`.
    public package(set) subscript(characteristic: MediaCharacteristic) -> MediaSelectionOption? {
        get { options[characteristic] }
        set { options[characteristic] = newValue }
    }
}
