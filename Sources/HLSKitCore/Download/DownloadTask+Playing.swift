/// A download that is played while it goes on.
extension DownloadTask {
    /// An item of ``asset`` that is played in the variant which is downloaded, with the rendition that is played if nobody
    /// chooses.
    ///
    /// ```swift
    /// task.resume()
    /// let player = Player()
    /// try player.replaceCurrentItem(with: task.makePlayerItem())
    /// player.play()
    /// ```
    public func makePlayerItem() -> PlayerItem {
        let item = PlayerItem(asset: asset)
        item.preferences.quality = configuration.quality
        item.preferences.variantPolicy = .best()
        return item
    }

    /// Lets players have a segment that was stored, with what it needs.
    func offer(_ segment: DownloadJournal.Segment, at index: Int, of lane: DownloadLane) {
        guard let file = segment.file else { return }
        let media = lane.tracker.playlist.segments[index]
        guard let url = lane.tracker.playlist.resolve(media.uri) else { return }
        downloaded.add(url, media.byteRange?.range, file: file.name)
        guard let resources = try? lane.resources(at: index) else { return }
        if let map = resources.map, let name = segment.map { downloaded.add(map, file: name) }
        if let key = resources.key, let name = segment.key?.file { downloaded.add(key.resource, file: name) }
        if let key = resources.mapKey, let name = segment.mapKey?.file { downloaded.add(key.resource, file: name) }
    }
}
