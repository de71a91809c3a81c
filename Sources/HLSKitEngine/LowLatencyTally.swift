/// What low latency came to in an item.
package struct LowLatencyTally: Sendable, Hashable {
    /// Parts that were loaded.
    package var partCount = 0
    /// Requests for a playlist that were held and brought what was awaited.
    package var blockingReloadCount = 0
    /// Delta updates that were laid over what was known.
    package var deltaUpdateCount = 0
    /// Preload hints that became parts or initialization sections.
    package var usedHintCount = 0
    /// Preload hints that were asked for and came to nothing.
    package var wastedHintCount = 0

    package init() {}
}
