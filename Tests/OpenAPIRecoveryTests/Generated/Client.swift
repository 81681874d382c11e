#if OpenAPI
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The client of `openapi.yaml`, written by hand in the form that the generator gives.
struct Client: Sendable {
    private let client: UniversalClient

    init(
        serverURL: URL,
        configuration: Configuration = .init(),
        transport: any ClientTransport,
        middlewares: [any ClientMiddleware] = []
    ) {
        client = .init(
            serverURL: serverURL,
            configuration: configuration,
            transport: transport,
            middlewares: middlewares
        )
    }

    private var converter: Converter { client.converter }

    func getNote(_ input: Operations.getNote.Input) async throws -> Operations.getNote.Output {
        try await client.send(
            input: input,
            forOperation: Operations.getNote.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/notes/{}", parameters: [input.path.id])
                var request: HTTPTypes.HTTPRequest = .init(soar_path: path, method: .get)
                suppressMutabilityWarning(&request)
                return (request, nil)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 200:
                    let body: Operations.getNote.Output.Ok.Body = try await converter.getResponseBodyAsJSON(
                        Components.Schemas.Note.self,
                        from: responseBody,
                        transforming: { value in .json(value) }
                    )
                    return .ok(.init(body: body))
                case 404: return .notFound
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody)
                    )
                }
            }
        )
    }

    func createNote(_ input: Operations.createNote.Input) async throws -> Operations.createNote.Output {
        try await client.send(
            input: input,
            forOperation: Operations.createNote.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/notes", parameters: [])
                var request: HTTPTypes.HTTPRequest = .init(soar_path: path, method: .post)
                suppressMutabilityWarning(&request)
                let body: OpenAPIRuntime.HTTPBody?
                switch input.body {
                case .json(let value):
                    body = try converter.setRequiredRequestBodyAsJSON(
                        value,
                        headerFields: &request.headerFields,
                        contentType: "application/json; charset=utf-8"
                    )
                }
                return (request, body)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 201: return .created
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody)
                    )
                }
            }
        )
    }

    func importNotes(_ input: Operations.importNotes.Input) async throws -> Operations.importNotes.Output {
        try await binary(input, Operations.importNotes.id, .post, "/imports")
    }

    func exportNotes(_ input: Operations.exportNotes.Input) async throws -> Operations.exportNotes.Output {
        try await binary(input, Operations.exportNotes.id, .put, "/exports")
    }

    private func binary(
        _ input: Operations.BinaryInput,
        _ id: String,
        _ method: HTTPTypes.HTTPRequest.Method,
        _ template: String
    ) async throws -> Operations.BinaryOutput {
        try await client.send(
            input: input,
            forOperation: id,
            serializer: { input in
                let path = try converter.renderedPath(template: template, parameters: [])
                var request: HTTPTypes.HTTPRequest = .init(soar_path: path, method: method)
                suppressMutabilityWarning(&request)
                let body: OpenAPIRuntime.HTTPBody?
                switch input.body {
                case .binary(let value):
                    body = try converter.setRequiredRequestBodyAsBinary(
                        value,
                        headerFields: &request.headerFields,
                        contentType: "application/octet-stream"
                    )
                }
                return (request, body)
            },
            deserializer: { response, responseBody in
                switch response.status.code {
                case 200:
                    let body: Operations.BinaryOutput.Ok.Body = try converter.getResponseBodyAsBinary(
                        OpenAPIRuntime.HTTPBody.self,
                        from: responseBody,
                        transforming: { value in .binary(value) }
                    )
                    return .ok(.init(body: body))
                default:
                    return .undocumented(
                        statusCode: response.status.code,
                        .init(headerFields: response.headerFields, body: responseBody)
                    )
                }
            }
        )
    }
}
#endif
