import HLSKitCodec
package import HLSKitPlaylist
package import HLSKitSelection

extension AssetVariant {
    /// The same, judged by what this machine decodes; where it has no library for that, by all else.
    package static func listed(in playlist: MultivariantPlaylist) -> [AssetVariant] {
        var context = SelectionContext()
        if CodecLibrary.failure == nil { context.canDecode = CodecRegistry.canDecode(entry:) }
        return list(of: playlist, judgedIn: context)
    }
}
