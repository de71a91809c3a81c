/// The properties of an asset that have to be there before its item is ready.
///
/// See docs/behaviour/playback.md.
extension PlaybackEngine {
    /// All of them are loaded, or one has failed.
    mutating func endAssetKeys(_ error: PlayerError?) {
        guard item?.awaitsAssetKeys == true, item?.error == nil else { return }
        item?.awaitsAssetKeys = false
        if let error { failItem(error) } else { becomeReady() }
    }
}
