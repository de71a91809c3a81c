import CLibAV
import Glibc

/// FFmpeg's libavfilter, opened when the first filter is needed.
///
/// It is not linked because its forty libraries would add 20 ms and 12 MB to each start, and few apps play at speeds
/// other than 1.
final class FilterLibrary: Sendable {
    // Graphs, filters and their contexts are opaque because only their pointers are passed on.
    typealias AllocateGraph = @convention(c) () -> OpaquePointer?
    typealias FreeGraph = @convention(c) (UnsafeMutablePointer<OpaquePointer?>) -> Void
    typealias FindFilter = @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    typealias CreateFilter =
        @convention(c) (
            UnsafeMutablePointer<OpaquePointer?>, OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>?,
            UnsafeMutableRawPointer?, OpaquePointer
        ) -> Int32
    typealias Link = @convention(c) (OpaquePointer, UInt32, OpaquePointer, UInt32) -> Int32
    typealias Configure = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?) -> Int32
    typealias MoveFrame = @convention(c) (OpaquePointer, UnsafeMutablePointer<AVFrame>?) -> Int32

    let allocateGraph: AllocateGraph
    let freeGraph: FreeGraph
    let findFilter: FindFilter
    let createFilter: CreateFilter
    let link: Link
    let configure: Configure
    let addFrame: MoveFrame
    let getFrame: MoveFrame

    /// libavfilter's version number is 51 lower than libavcodec's in the same release.
    private static let version = LIBAVCODEC_VERSION_MAJOR - 51

    static let installed = FilterLibrary()

    private init?() {
        guard let library = dlopen("libavfilter.so.\(Self.version)", RTLD_NOW | RTLD_LOCAL) else { return nil }
        func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let allocateGraph = symbol("avfilter_graph_alloc", as: AllocateGraph.self),
            let freeGraph = symbol("avfilter_graph_free", as: FreeGraph.self),
            let findFilter = symbol("avfilter_get_by_name", as: FindFilter.self),
            let createFilter = symbol("avfilter_graph_create_filter", as: CreateFilter.self),
            let link = symbol("avfilter_link", as: Link.self),
            let configure = symbol("avfilter_graph_config", as: Configure.self),
            let addFrame = symbol("av_buffersrc_add_frame", as: MoveFrame.self),
            let getFrame = symbol("av_buffersink_get_frame", as: MoveFrame.self)
        else {
            dlclose(library)
            return nil
        }
        self.allocateGraph = allocateGraph
        self.freeGraph = freeGraph
        self.findFilter = findFilter
        self.createFilter = createFilter
        self.link = link
        self.configure = configure
        self.addFrame = addFrame
        self.getFrame = getFrame
    }
}

extension FilterLibrary {
    /// Creates a graph with the filters that `build` adds. The caller frees it with ``freeGraph``.
    func makeGraph<Ends>(
        _ build: (OpaquePointer) throws(CodecError) -> Ends
    ) throws(CodecError) -> (graph: OpaquePointer, ends: Ends) {
        guard let graph = allocateGraph() else {
            throw CodecError(call: "avfilter_graph_alloc", code: CodecError.outOfMemory)
        }
        do throws(CodecError) {
            let ends = try build(graph)
            let code = configure(graph, nil)
            guard code >= 0 else { throw CodecError(call: "avfilter_graph_config", code: code) }
            return (graph, ends)
        } catch {
            var graph: OpaquePointer? = graph
            freeGraph(&graph)
            throw error
        }
    }

    func makeFilter(
        _ name: String, _ arguments: String?, in graph: OpaquePointer
    ) throws(CodecError) -> OpaquePointer {
        guard let filter = findFilter(name) else {
            throw CodecError(call: "avfilter_get_by_name", code: CodecError.invalidArgument, text: "no filter \(name)")
        }
        var context: OpaquePointer?
        let code = createFilter(&context, filter, name, arguments, nil, graph)
        guard code >= 0, let context else { throw CodecError(call: "avfilter_graph_create_filter", code: code) }
        return context
    }

    func connect(_ one: OpaquePointer, to other: OpaquePointer) throws(CodecError) {
        let code = link(one, 0, other, 0)
        guard code >= 0 else { throw CodecError(call: "avfilter_link", code: code) }
    }

    static func required() throws(CodecError) -> FilterLibrary {
        guard let library = installed else {
            let text = "libavfilter.so.\(version) is not installed (Debian: libavfilter\(version))"
            throw CodecError(call: "dlopen", code: CodecError.noLibrary, text: text)
        }
        return library
    }
}
