import HLSKitEngine
public import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection

extension DownloadTask {
    /// Creates a player item that plays the downloaded variant with the automatically selected renditions.
    ///
    /// The item uses ``asset``, so media is not requested twice.
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

    func announce(_ items: [DownloadPlan.Item], of lane: DownloadLane) {
        for item in items {
            for resource in item.resources { demand.want(.resource(resource), as: DownloadDemand.Key(resource)) }
            if let key = lane.index(of: item.position).flatMap({ lane.demandKey(at: $0) }) {
                demand.want(.segment(item.id), as: key)
            }
        }
    }

    func offer(_ segment: DownloadJournal.Segment, at index: Int, of lane: DownloadLane) {
        guard let file = segment.file, let place = lane.demandKey(at: index) else { return }
        downloaded.add(place, file: file.name)
        guard let resources = try? lane.resources(at: index) else { return }
        if let map = resources.map, let name = segment.map { downloaded.add(map, file: name) }
        if let key = resources.key, let name = segment.key?.file { downloaded.add(key.resource, file: name) }
        if let key = resources.mapKey, let name = segment.mapKey?.file { downloaded.add(key.resource, file: name) }
    }
}

extension DownloadLane {
    fileprivate func demandKey(at index: Int) -> DownloadDemand.Key? {
        let media = tracker.playlist.segments[index]
        return tracker.playlist.resolve(media.uri).map {
            DownloadDemand.Key(url: $0, byteRange: media.loadedRange)
        }
    }
}
