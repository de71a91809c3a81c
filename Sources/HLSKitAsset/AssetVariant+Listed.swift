import HLSKitCodec
package import HLSKitPlaylist
package import HLSKitSelection

extension AssetVariant {
    /// Returns the variants, judged by the codecs that this machine decodes. If the codec library is missing, codecs
    /// are not judged.
    package static func listed(in playlist: MultivariantPlaylist) -> [AssetVariant] {
        var context = SelectionContext()
        if CodecLibrary.failure == nil { context.canDecode = CodecRegistry.canDecode(entry:) }
        return list(of: playlist, judgedIn: context)
    }
}
