import HLSKitCodec
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

struct FileSelection: Sendable {
    let video: MediaTrack?
    /// The audio tracks. The first one is read with the video.
    let audio: [MediaTrack]
    let text: [MediaTrack]

    init(_ tracks: [MediaTrack]) {
        // As in segments, tracks that can be decoded come first.
        func ordered(_ type: MediaKind) -> [MediaTrack] {
            let all = tracks.filter { $0.mediaType == type }
            return all.filter { CodecRegistry.canDecode($0.codec) } + all.filter { !CodecRegistry.canDecode($0.codec) }
        }
        video = ordered(.video).first
        audio = ordered(.audio)
        text = tracks.filter(\.isReadableText)
    }

    var mainTrackIDs: [Int] { [video?.id, audio.first?.id].compactMap(\.self) }

    var hasOptions: Bool {
        audio.count > 1 || !text.isEmpty || audio.contains { $0.language != nil || $0.label.name != nil }
    }

    /// Returns the playlist of the file's audio and subtitle tracks.
    ///
    /// The playlist has a variant that carries the first audio track, and a rendition for each other track.
    ///
    /// - Parameter bitRate: The bit rate of the file, in bits per second.
    func multivariantPlaylist(url: String, bitRate: Int) -> MultivariantPlaylist {
        var playlist = MultivariantPlaylist(url: url)
        playlist.version = 7
        var names = TrackNames()
        let first = audio.firstIndex { $0.label.isDefault && CodecRegistry.canDecode($0.codec) } ?? 0
        for (index, track) in audio.enumerated() {
            var rendition = names.rendition(.audio, of: track, groupID: "audio")
            if index > 0 { rendition.uri = FileKey(trackIDs: [track.id], part: .playlist).fragment }
            rendition.isDefault = index == first
            playlist.renditions.append(rendition)
        }
        // Names are unique in a group only (RFC 8216 §4.3.4.1.1).
        names = TrackNames()
        for track in text {
            var rendition = names.rendition(.subtitles, of: track, groupID: "text")
            rendition.uri = FileKey(trackIDs: [track.id], part: .playlist).fragment
            rendition.isDefault = track.label.isDefault
            playlist.renditions.append(rendition)
        }
        var variant = VariantStream(
            uri: url + FileKey(trackIDs: mainTrackIDs, part: .playlist).fragment, bandwidth: max(1, bitRate))
        if let video, video.width > 0, video.height > 0 {
            variant.resolution = Resolution(width: video.width, height: video.height)
        }
        if !audio.isEmpty { variant.audio = "audio" }
        if !text.isEmpty { variant.subtitles = "text" }
        playlist.variants = [variant]
        return playlist
    }
}
