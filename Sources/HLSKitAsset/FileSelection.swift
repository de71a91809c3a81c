import HLSKitCodec
import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection

/// The tracks of a media file as a player chooses among them: video, one audio track, subtitles.
struct FileSelection: Sendable {
    /// The video; nil if there are none.
    let video: MediaTrack?
    /// The first is played unless another is chosen.
    let audio: [MediaTrack]
    /// Subtitles that can be shown.
    let text: [MediaTrack]

    init(_ tracks: [MediaTrack]) {
        // As in segments, what can be decoded goes before what cannot.
        func ordered(_ type: MediaKind) -> [MediaTrack] {
            let all = tracks.filter { $0.mediaType == type }
            return all.filter { CodecRegistry.canDecode($0.codec) } + all.filter { !CodecRegistry.canDecode($0.codec) }
        }
        video = ordered(.video).first
        audio = ordered(.audio)
        text = tracks.filter { $0.mediaType == .text && ($0.codec == .webVTT || $0.codec == .ttml) }
    }

    /// The tracks that are read together: the video, and the first audio track.
    var mainTrackIDs: [Int] { [video?.id, audio.first?.id].compactMap(\.self) }

    /// There is something to choose, or to list.
    var hasOptions: Bool { audio.count > 1 || audio.first?.language != nil || !text.isEmpty }

    /// The playlist with the file's audio tracks and subtitles: a variant that carries the first audio track, and a
    /// rendition for each of the others.
    ///
    /// - Parameter bitRate: of the file, in bits per second.
    func multivariantPlaylist(url: String, bitRate: Int) -> MultivariantPlaylist {
        var playlist = MultivariantPlaylist(url: url)
        playlist.version = 7
        var names = TrackNames()
        for (index, track) in audio.enumerated() {
            var rendition = Rendition(type: .audio, groupID: "audio", name: names.name(of: track, "Audio"))
            if index > 0 { rendition.uri = FileKey(trackIDs: [track.id], part: .playlist).fragment }
            rendition.language = track.language.map(LanguageTag.shortest)
            rendition.isDefault = index == 0
            rendition.isAutoselect = true
            if track.channelCount > 0 { rendition.channels = "\(track.channelCount)" }
            playlist.renditions.append(rendition)
        }
        for track in text {
            var rendition = Rendition(type: .subtitles, groupID: "text", name: names.name(of: track, "Subtitles"))
            rendition.uri = FileKey(trackIDs: [track.id], part: .playlist).fragment
            rendition.language = track.language.map(LanguageTag.shortest)
            rendition.isAutoselect = true
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
