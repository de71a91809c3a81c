/// The use of low-latency features in an item.
package struct LowLatencyTally: Sendable, Hashable {
    package var partCount = 0
    /// The number of blocking playlist requests that returned the expected content.
    package var blockingReloadCount = 0
    /// The number of delta updates that were merged into the known playlist.
    package var deltaUpdateCount = 0
    /// The number of preload hints that became parts or initialization sections.
    package var usedHintCount = 0
    /// The number of preload hints that were requested and not used.
    package var wastedHintCount = 0

    package init() {}
}
