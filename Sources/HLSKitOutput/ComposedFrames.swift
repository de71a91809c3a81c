public import HLSKitCodec

/// The frames of a ``CompositionOutput``, each composed on request.
public struct ComposedFrames: AsyncSequence, Sendable {
    let output: CompositionOutput
    let sources: AsyncStream<CompositionOutput.Source>

    /// An iterator over the frames.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let output: CompositionOutput
        var sources: AsyncStream<CompositionOutput.Source>.AsyncIterator

        /// Waits for the next frame, and returns it or `nil` if there are no more frames.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> VideoFrame? {
            while let source = await sources.next(isolation: actor) {
                if let frame = await output.composed(source) { return frame }
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(output: output, sources: sources.makeAsyncIterator())
    }
}
