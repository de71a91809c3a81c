import HLSKitLoading
import HLSKitPlaylist

extension DownloadSelection {
    struct Base {
        var lane: DownloadJournal.Lane
        var variantID: String
        var hasVideo = true
        /// The ending of the lane's ID that names its video rendition, or an empty text for the usual one.
        var view = ""
        var rendition: Rendition?

        func isStored(_ audio: Rendition, among listed: [DownloadJournal.Lane], isInVariant: Bool) -> Bool {
            if isInVariant { return lane.name == audio.name }
            let ids = [DownloadSelection.lane(of: audio, .main).id, DownloadSelection.lane(of: audio, .audio).id]
            return listed.contains { ids.contains($0.id) }
        }
    }

    /// The ending of the ID of a variant that is loaded for its audio only.
    static let audioEnding = "|sound"
    /// The mark before a video rendition in the ID of a lane.
    static let viewMark = "|view|"

    /// Returns the first lane of a folder, or `nil` if its playlists list no variant.
    ///
    /// - Throws: `refusal` if the stream has no such variant or rendition.
    static func base(
        of listed: [DownloadJournal.Lane], in playlist: MultivariantPlaylist, orThrow refusal: HLSError?
    ) throws(HLSError) -> Base? {
        let variants = listed.filter { $0.kind == .main }
        guard let lane = variants.first(where: { !$0.isAuxiliary }) ?? variants.first else { return nil }
        for variant in playlist.variants {
            let id = variant.downloadID
            if lane.id == id || lane.id.hasPrefix(id + viewMark) {
                return Base(lane: lane, variantID: id, view: String(lane.id.dropFirst(id.count)))
            }
            if lane.id == id + audioEnding { return Base(lane: lane, variantID: id, hasVideo: false) }
        }
        let rendition = playlist.renditions.first {
            $0.type == .audio && $0.uri != nil && Self.lane(of: $0, .main).id == lane.id
        }
        if let rendition, let variant = playlist.variants.first(where: { $0.audio == rendition.groupID }) {
            return Base(lane: lane, variantID: variant.downloadID, hasVideo: false, rendition: rendition)
        }
        throw refusal ?? HLSError(code: .noEligibleVariant, urlString: playlist.url, cause: "no variant of the folder")
    }
}
