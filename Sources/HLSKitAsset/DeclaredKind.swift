import HLSKitLoading
package import HLSKitMedia
import HLSKitPlaylist

package enum DeclaredKind: Sendable, Hashable {
    case playlist
    case media(ContainerProbe.Container)

    private static let playlistTypes: Set<String> = [
        "application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl", "audio/mpegurl",
        "audio/x-mpegurl",
    ]
    private static let mp4Types: Set<String> = [
        "video/mp4", "audio/mp4", "application/mp4", "video/iso.segment", "audio/iso.segment", "video/x-m4v",
        "audio/x-m4a", "video/quicktime", "video/3gpp", "audio/3gpp",
    ]
    private static let transportStreamTypes: Set<String> = ["video/mp2t", "video/vnd.dlna.mpeg-tts"]
    private static let packedAudioTypes: Set<String> = [
        "audio/aac", "audio/aacp", "audio/x-aac", "audio/mpeg", "audio/mp3", "audio/ac3", "audio/eac3",
    ]

    /// Creates the kind, or returns `nil` for an unsupported type. Ignores parameters (`; charset=…`).
    init?(mimeType: String) {
        let type = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        if Self.playlistTypes.contains(type) {
            self = .playlist
        } else if Self.mp4Types.contains(type) {
            self = .media(.mp4)
        } else if Self.transportStreamTypes.contains(type) {
            self = .media(.transportStream(packetStride: 188))
        } else if Self.packedAudioTypes.contains(type) {
            self = .media(.packedAudio)
        } else {
            return nil
        }
    }

    static func refusal(of type: String, url: String) -> HLSError {
        HLSError(
            code: .invalidArgument, urlString: url, cause: "not a media type that is read: \(type.escapingControls)")
    }

    package var container: ContainerProbe.Container? { if case .media(let container) = self { container } else { nil } }
}

extension ContainerProbe {
    /// Identifies a resource from its declared container or, without one, its bytes. The result is `nil` if more bytes
    /// are needed.
    package static func identify(
        _ bytes: ArraySlice<UInt8>, isComplete: Bool, declared: Container?
    ) -> Container? {
        guard let declared else { return identify(bytes, isComplete: isComplete) }
        guard !bytes.isEmpty || isComplete else { return nil }
        guard case .transportStream = declared else { return declared }
        // The declared type does not include the packet size, so find it in the bytes.
        switch identify(bytes, isComplete: isComplete) {
        case nil: return nil
        case .transportStream(let stride)?: return .transportStream(packetStride: stride)
        default: return declared
        }
    }
}

extension AssetOptions {
    /// The declared kind of the asset's own resource, or `nil` if its bytes decide.
    package var declaredKind: DeclaredKind? { overrideMIMEType.flatMap(DeclaredKind.init(mimeType:)) }

    var unknownMIMEType: String? { declaredKind == nil ? overrideMIMEType : nil }
}
